"""Java, by OpenJDK."""

from __future__ import annotations

from heredity.kinds.code.languages.contract import MARK, Language
from heredity.kinds.code.signature import Function, Signature, Type

_NAMES = {
    "int": "long",
    "float": "double",
    "string": "String",
    "bool": "boolean",
    "none": "void",
    "tree": "TreeNode",
    "linked-list": "ListNode",
}

_NODES = {
    "ListNode.java": "public class ListNode {\n"
    "    public long val; public ListNode next;\n"
    "    public ListNode() {} public ListNode(long val) { this.val = val; }\n"
    "    public ListNode(long val, ListNode next) { this.val = val; this.next = next; }\n}\n",
    "TreeNode.java": "public class TreeNode {\n"
    "    public long val; public TreeNode left, right;\n"
    "    public TreeNode() {} public TreeNode(long val) { this.val = val; }\n"
    "    public TreeNode(long val, TreeNode left, TreeNode right) { this.val = val; this.left = left; this.right = right; }\n}\n",
}

_HARNESS = """import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;

public class Main {
    static byte[] text;
    static int place = 0;
    static final StringBuilder out = new StringBuilder();

    static String word() {
        while (place < text.length && text[place] == '\\n') place++;
        int from = place;
        while (place < text.length && text[place] != '\\n') place++;
        return new String(text, from, place - from, StandardCharsets.US_ASCII);
    }
    static long readInt() { return Long.parseLong(word()); }
    static double readFloat() { return Double.parseDouble(word()); }
    static boolean readBool() { return word().equals("1"); }
    static String readString() {
        String w = word();
        byte[] bytes = new byte[(w.length() - 1) / 2];
        for (int i = 0; i < bytes.length; i++) bytes[i] = (byte) Integer.parseInt(w.substring(2 * i + 1, 2 * i + 3), 16);
        return new String(bytes, StandardCharsets.UTF_8);
    }
    static ListNode readLinked() {
        ListNode first = new ListNode(), last = first;
        for (long n = readInt(); n > 0; n--) { last.next = new ListNode(readInt()); last = last.next; }
        return first.next;
    }
    static TreeNode readTree() {
        int n = (int) readInt(), next = 1;
        TreeNode[] nodes = new TreeNode[n];
        for (int i = 0; i < n; i++) { String w = word(); nodes[i] = w.equals("n") ? null : new TreeNode(Long.parseLong(w)); }
        for (TreeNode node : nodes) {
            if (node == null) continue;
            if (next < n) node.left = nodes[next++];
            if (next < n) node.right = nodes[next++];
        }
        return n == 0 ? null : nodes[0];
    }
    static void write(long v) { out.append(v).append('\\n'); }
    static void write(double v) { out.append(v).append('\\n'); }
    static void write(boolean v) { out.append(v ? "1\\n" : "0\\n"); }
    static void write(String v) {
        out.append('x');
        for (byte b : v.getBytes(StandardCharsets.UTF_8)) out.append(String.format("%02x", b));
        out.append('\\n');
    }
    static void write(ListNode v) {
        long n = 0;
        for (ListNode p = v; p != null; p = p.next) n++;
        write(n);
        for (; v != null; v = v.next) write(v.val);
    }
    static void write(TreeNode v) {
        ArrayList<TreeNode> nodes = new ArrayList<>();
        ArrayList<String> words = new ArrayList<>();
        nodes.add(v);
        for (int i = 0; i < nodes.size(); i++) {
            TreeNode p = nodes.get(i);
            words.add(p == null ? "n" : Long.toString(p.val));
            if (p != null) { nodes.add(p.left); nodes.add(p.right); }
        }
        while (!words.isEmpty() && words.get(words.size() - 1).equals("n")) words.remove(words.size() - 1);
        write((long) words.size());
        for (String w : words) out.append(w).append('\\n');
    }
"""

_MAIN = """    public static void main(String[] arguments) throws Exception {{
        text = System.in.readAllBytes();
        Thread thread = new Thread(null, () -> {{
{body}            System.out.flush();
            System.out.print("\\n{mark}\\n" + out);
            System.out.flush();
        }}, "main", 256L << 20);
        boolean[] failed = new boolean[1];
        thread.setUncaughtExceptionHandler((t, error) -> {{ failed[0] = true; error.printStackTrace(); }});
        thread.start();
        thread.join();
        if (failed[0]) System.exit(1);
    }}
}}
"""


def java_type(kind: Type) -> str:
    """Return a type in Java's notation."""
    return f"{java_type(kind.item)}[]" if kind.item else _NAMES[kind.name]


def _reader(kind: Type, types: tuple[Type, ...]) -> str:
    if kind.item:
        return f"readList{types.index(kind)}()"
    return {"tree": "readTree()", "linked-list": "readLinked()"}.get(kind.name, f"read{kind.name.title()}()")


def _lists(types: tuple[Type, ...]) -> str:
    text = ""
    for number, kind in enumerate(types):
        if not kind.item:
            continue
        item = java_type(kind.item)
        made = item.replace("[]", "[n][]", 1) if "[]" in item else f"{item}[n]"
        text += f"    static {java_type(kind)} readList{number}() {{\n        int n = (int) readInt();\n"
        text += f"        {java_type(kind)} v = new {made};\n"
        text += f"        for (int i = 0; i < n; i++) v[i] = {_reader(kind.item, types)};\n        return v;\n    }}\n"
        text += f"    static void write({java_type(kind)} v) {{\n        write((long) v.length);\n"
        text += f"        for ({item} x : v) write(x);\n    }}\n"
    return text


def _header(function: Function, *, constructor: str = "") -> str:
    arguments = ", ".join(f"{java_type(p.type)} {p.name}" for p in function.parameters)
    return f"    public {constructor or f'{java_type(function.result)} {function.name}'}({arguments}) {{\n\n    }}\n"


def _starter(signature: Signature) -> str:
    if not signature.class_name:
        return f"class Solution {{\n{_header(signature.function)}}}\n"
    methods = [_header(signature.function, constructor=signature.class_name), *map(_header, signature.functions[1:])]
    return f"class {signature.class_name} {{\n" + "\n".join(methods) + "}\n"


def _call(function: Function, callee: str, types: tuple[Type, ...]) -> str:
    call = f"{callee}({', '.join(_reader(p.type, types) for p in function.parameters)})"
    return f"{call};" if function.result.name == "none" else f"write({call});"


def _harness(signature: Signature) -> dict[str, str]:
    types, inner = signature.types(), " " * 12
    if not signature.class_name:
        body = f"{inner}{_call(signature.function, f'new Solution().{signature.function.name}', types)}\n"
    else:
        name = signature.class_name
        made = ", ".join(_reader(p.type, types) for p in signature.function.parameters)
        body = f"{inner}long count = readInt();\n{inner}readInt();\n{inner}{name} made = new {name}({made});\n"
        body += f"{inner}while (--count > 0) {{\n{inner}    switch ((int) readInt()) {{\n"
        for number, function in enumerate(signature.functions[1:], 1):
            body += f"{inner}        case {number}: {_call(function, f'made.{function.name}', types)} break;\n"
        body += f"{inner}    }}\n{inner}}}\n"
    main = _HARNESS + _lists(types) + _MAIN.format(body=body, mark=MARK)
    return {"Main.java": main, **_NODES}


def jvm(megabytes: int, *path: str) -> tuple[str, ...]:
    """Return the command that runs `Main` with a heap of a size."""
    return (
        *("java", f"-Xmx{megabytes}m", "-Xss64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"),
        *("-XX:-UsePerfData", "-XX:ReservedCodeCacheSize=64m", "-cp", ":".join(("/work", *path)), "Main"),
    )


JAVA = Language(
    name="java",
    title="Java",
    file="Solution.java",
    programs=("java", "javac"),
    starter=_starter,
    harness=_harness,
    # Default imports; on the first line, so that the others keep their numbers.
    wrapped=lambda source: f"import java.util.*; import java.util.function.*; import java.util.stream.*; {source}",
    compile="javac -J-Xss8m -J-Xmx512m -J-XX:+UseSerialGC -J-XX:TieredStopAtLevel=1 -proc:none -nowarn -d . *.java && rm *.java",
    run=jvm,
    remedy="apt-get install openjdk-17-jdk-headless",
    heap_apart=True,
    gives_up="throw new RuntimeException();",
)
