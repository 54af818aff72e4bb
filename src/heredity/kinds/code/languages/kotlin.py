"""Kotlin for the Java virtual machine."""

from __future__ import annotations

from heredity.kinds.code.languages.contract import MARK, Language
from heredity.kinds.code.languages.java import jvm
from heredity.kinds.code.signature import Function, Signature, Type

_NAMES = {
    "int": "Long",
    "float": "Double",
    "string": "String",
    "bool": "Boolean",
    "none": "Unit",
    "tree": "TreeNode?",
    "linked-list": "ListNode?",
}
_ARRAYS = {"int": "LongArray", "float": "DoubleArray", "bool": "BooleanArray"}

_HARNESS = """class ListNode(@JvmField var `val`: Long = 0, @JvmField var next: ListNode? = null)
class TreeNode(@JvmField var `val`: Long = 0, @JvmField var left: TreeNode? = null, @JvmField var right: TreeNode? = null)

object Main {
    private val text = System.`in`.readBytes()
    private var place = 0
    private val out = StringBuilder()

    private fun word(): String {
        while (place < text.size && text[place] == 10.toByte()) place++
        val from = place
        while (place < text.size && text[place] != 10.toByte()) place++
        return String(text, from, place - from, Charsets.US_ASCII)
    }
    private fun readInt(): Long = word().toLong()
    private fun readFloat(): Double = word().toDouble()
    private fun readBool(): Boolean = word() == "1"
    private fun readString(): String {
        val w = word()
        return String(ByteArray((w.length - 1) / 2) { w.substring(2 * it + 1, 2 * it + 3).toInt(16).toByte() }, Charsets.UTF_8)
    }
    private fun readLinked(): ListNode? {
        val first = ListNode()
        var last = first
        repeat(readInt().toInt()) { val made = ListNode(readInt()); last.next = made; last = made }
        return first.next
    }
    private fun readTree(): TreeNode? {
        val nodes = Array(readInt().toInt()) { val w = word(); if (w == "n") null else TreeNode(w.toLong()) }
        var next = 1
        for (node in nodes) {
            if (node == null) continue
            if (next < nodes.size) node.left = nodes[next++]
            if (next < nodes.size) node.right = nodes[next++]
        }
        return nodes.firstOrNull()
    }
    private fun write(v: Unit) {}
    private fun write(v: Long) { out.append(v).append('\\n') }
    private fun write(v: Double) { out.append(v).append('\\n') }
    private fun write(v: Boolean) { out.append(if (v) "1\\n" else "0\\n") }
    private fun write(v: String) {
        out.append('x')
        for (b in v.toByteArray(Charsets.UTF_8)) out.append(String.format("%02x", b))
        out.append('\\n')
    }
    private fun write(v: ListNode?) {
        val values = ArrayList<Long>()
        var p = v
        while (p != null) { values.add(p.`val`); p = p.next }
        write(values.size.toLong())
        for (x in values) write(x)
    }
    private fun write(v: TreeNode?) {
        val nodes = arrayListOf(v)
        val words = ArrayList<String>()
        var i = 0
        while (i < nodes.size) {
            val p = nodes[i++]
            words.add(p?.`val`?.toString() ?: "n")
            if (p != null) { nodes.add(p.left); nodes.add(p.right) }
        }
        while (words.isNotEmpty() && words.last() == "n") words.removeAt(words.size - 1)
        write(words.size.toLong())
        for (w in words) out.append(w).append('\\n')
    }
"""

_MAIN = """    private fun solve() {{
{body}        System.out.flush()
        print("\\n{mark}\\n" + out)
        System.out.flush()
    }}

    @JvmStatic
    fun main(arguments: Array<String>) {{
        var failed = false
        val thread = Thread(null, {{ solve() }}, "main", 256L shl 20)
        thread.setUncaughtExceptionHandler {{ _, error -> failed = true; error.printStackTrace() }}
        thread.start()
        thread.join()
        if (failed) System.exit(1)
    }}
}}
"""


def _type_name(kind: Type) -> str:
    if kind.item:
        return _ARRAYS.get(kind.item.name) or f"Array<{_type_name(kind.item)}>"
    return _NAMES[kind.name]


def _reader(kind: Type) -> str:
    if kind.item:
        made = _ARRAYS.get(kind.item.name, "Array")
        return f"{made}(readInt().toInt()) {{ {_reader(kind.item)} }}"
    return {"tree": "readTree()", "linked-list": "readLinked()"}.get(kind.name, f"read{kind.name.title()}()")


def _lists(types: tuple[Type, ...]) -> str:
    return "".join(
        f"    private fun write(v: {_type_name(kind)}) {{ write(v.size.toLong()); for (x in v) write(x) }}\n"
        for kind in types
        if kind.item
    )


def _header(function: Function) -> str:
    arguments = ", ".join(f"{p.name}: {_type_name(p.type)}" for p in function.parameters)
    result = "" if function.result.name == "none" else f": {_type_name(function.result)}"
    return f"    fun {function.name}({arguments}){result} {{\n\n    }}\n"


def _starter(signature: Signature) -> str:
    if not signature.class_name:
        return f"class Solution {{\n{_header(signature.function)}}}\n"
    made = ", ".join(f"{p.name}: {_type_name(p.type)}" for p in signature.function.parameters)
    return f"class {signature.class_name}({made}) {{\n" + "\n".join(map(_header, signature.functions[1:])) + "}\n"


def _call(function: Function, callee: str) -> str:
    return f"write({callee}({', '.join(_reader(p.type) for p in function.parameters)}))"


def _harness(signature: Signature) -> dict[str, str]:
    inner = " " * 8
    if not signature.class_name:
        body = f"{inner}{_call(signature.function, f'Solution().{signature.function.name}')}\n"
    else:
        made = ", ".join(_reader(p.type) for p in signature.function.parameters)
        body = f"{inner}val count = readInt().toInt()\n{inner}readInt()\n{inner}val made = {signature.class_name}({made})\n"
        body += f"{inner}repeat(count - 1) {{\n{inner}    when (readInt().toInt()) {{\n"
        for number, function in enumerate(signature.functions[1:], 1):
            body += f"{inner}        {number} -> {_call(function, f'made.{function.name}')}\n"
        body += f"{inner}    }}\n{inner}}}\n"
    return {"Main.kt": _HARNESS + _lists(signature.types()) + _MAIN.format(body=body, mark=MARK)}


KOTLIN = Language(
    name="kotlin",
    title="Kotlin",
    file="Solution.kt",
    programs=("kotlinc", "java"),
    starter=_starter,
    harness=_harness,
    compile="java -Xmx1g -Xss8m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp @kotlin@/lib/kotlin-compiler.jar "
    "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -nowarn -no-reflect -d . Main.kt Solution.kt && rm *.kt",
    run=lambda megabytes: jvm(megabytes, "@kotlin@/lib/kotlin-stdlib.jar"),
    remedy="npm install -g kotlin-compiler (and a Java virtual machine: apt-get install openjdk-17-jre-headless)",
    heap_apart=True,
    gives_up="throw RuntimeException()",
)
