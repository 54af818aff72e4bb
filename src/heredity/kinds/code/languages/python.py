"""Python 3."""

from __future__ import annotations

from heredity.kinds.code.languages.contract import MARK, Language, indented
from heredity.kinds.code.signature import Function, Signature, Type

_NAMES = {"int": "int", "float": "float", "string": "str", "bool": "bool", "none": "None", "any": "object"}

_STRUCTURES = """\
class ListNode:
    def __init__(self, val=0, next=None):
        self.val = val
        self.next = next


class TreeNode:
    def __init__(self, val=0, left=None, right=None):
        self.val = val
        self.left = left
        self.right = right
"""

_HARNESS = """\
import builtins
import sys

sys.path.insert(0, "/work")
sys.setrecursionlimit(200_000)
TYPES = ("Any", "Dict", "List", "Optional", "Set", "Tuple")


def text_of(name):
    with open("/work/" + name, encoding="utf-8", errors="replace") as file:
        return file.read().replace("ListNode", "")


import structures

builtins.ListNode, builtins.TreeNode = structures.ListNode, structures.TreeNode
if any(name in text for text in map(text_of, ("preamble.py", "solution.py")) for name in TYPES):
    # It takes as long as all the rest of the start, and most solutions name none of its types.
    import typing

    for name in TYPES:
        setattr(builtins, name, getattr(typing, name))

WORDS = sys.stdin.buffer.read().split()
OUT, PLACE, PRINT = [], 0, sys.stdout.buffer


def word():
    global PLACE
    PLACE += 1
    return WORDS[PLACE - 1]


def read_any():
    text = word().decode()
    tag, rest = text[0], text[1:]
    if tag == "n":
        return None
    if tag in "bid":
        return {"b": lambda text: text == "1", "i": int, "d": float}[tag](rest)
    if tag == "x":
        return bytes.fromhex(rest).decode("utf-8", "surrogatepass")
    if tag == "m":
        return {read_any(): read_any() for _ in range(int(rest))}
    return {"l": list, "u": tuple, "s": set}[tag](read_any() for _ in range(int(rest)))


def words_of(value):
    if value is None:
        return ["n"]
    if isinstance(value, bool):
        return ["b1" if value else "b0"]
    if isinstance(value, int):
        return ["i" + str(int(value))]
    if isinstance(value, float):
        return ["d" + repr(float(value))]
    if isinstance(value, str):
        return ["x" + value.encode("utf-8", "surrogatepass").hex()]
    if isinstance(value, dict):
        tag, items = "m", sorted(words_of(key) + words_of(own) for key, own in value.items())
    elif isinstance(value, (set, frozenset)):
        tag, items = "s", sorted(map(words_of, value))
    elif isinstance(value, (list, tuple)):
        tag, items = "l" if isinstance(value, list) else "u", list(map(words_of, value))
    else:
        raise TypeError("an answer of the type " + type(value).__name__)
    return [tag + str(len(items)), *(word for item in items for word in item)]


def read(kind):
    name = kind[0]
    if name == "any":
        return read_any()
    if name == "int":
        return int(word())
    if name == "float":
        return float(word())
    if name == "bool":
        return word() == b"1"
    if name == "string":
        return bytes.fromhex(word()[1:].decode()).decode()
    if name == "list":
        return [read(kind[1]) for _ in range(int(word()))]
    if name == "linked-list":
        first = last = structures.ListNode()
        for _ in range(int(word())):
            last.next = structures.ListNode(int(word()))
            last = last.next
        return first.next
    values = [word() for _ in range(int(word()))]
    nodes = [None if value == b"n" else structures.TreeNode(int(value)) for value in values]
    places = iter(nodes[1:])
    for node in nodes:
        if node is not None:
            node.left, node.right = next(places, None), next(places, None)
    return nodes[0] if nodes else None


def write(kind, value):
    name = kind[0]
    if name == "any":
        OUT.extend(words_of(value))
    elif name == "int":
        OUT.append(str(int(value) if isinstance(value, bool) else value.__index__()))
    elif name == "float":
        OUT.append(repr(float(value)))
    elif name == "bool":
        OUT.append("1" if value is True else "0" if value is False else "?")
    elif name == "string":
        OUT.append("x" + value.encode().hex())
    elif name == "list":
        OUT.append(str(len(value)))
        for item in value:
            write(kind[1], item)
    elif name == "linked-list":
        values = []
        while value is not None:
            values.append(str(int(value.val)))
            value = value.next
        OUT.extend([str(len(values)), *values])
    elif name == "tree":
        values, nodes = [], [value]
        for node in nodes:
            values.append("n" if node is None else str(int(node.val)))
            if node is not None:
                nodes += [node.left, node.right]
        while values and values[-1] == "n":
            values.pop()
        OUT.extend([str(len(values)), *values])


def done():
    sys.stdout.flush()
    PRINT.write(("\\n@MARK@\\n" + "\\n".join(OUT) + "\\n").encode())
    PRINT.flush()
    OUT.clear()


import preamble

vars(builtins).update({name: value for name, value in vars(preamble).items() if not name.startswith("__")})
import solution


def main():
"""

_PROGRAM = """\
import runpy
import sys

sys.path.insert(0, "/work")
sys.setrecursionlimit(200_000)
runpy.run_path("/work/solution.py", run_name="__main__")
"""


def _type_name(kind: Type) -> str:
    if kind.item:
        return f"list[{_type_name(kind.item)}]"
    return _NAMES.get(kind.name, "TreeNode | None" if kind.name == "tree" else "ListNode | None")


def _header(function: Function, name: str) -> str:
    arguments = ", ".join(["self", *(f"{p.name}: {_type_name(p.type)}" for p in function.parameters)])
    return f"    def {name}({arguments}) -> {_type_name(function.result)}:\n        ...\n"


def _starter(signature: Signature) -> str:
    if signature.starter:
        return signature.starter
    if not signature.class_name:
        return f"class Solution:\n{_header(signature.function, signature.function.name)}"
    names = ["__init__", *(function.name for function in signature.functions[1:])]
    methods = [_header(function, name) for function, name in zip(signature.functions, names, strict=True)]
    return f"class {signature.class_name}:\n" + "\n".join(methods)


def _kind(kind: Type) -> str:
    return f"({kind.name!r}, {_kind(kind.item)})" if kind.item else f"({kind.name!r},)"


def _kinds(function: Function) -> str:
    return ", ".join(_kind(p.type) for p in function.parameters)


def _harness(signature: Signature) -> dict[str, str]:
    if signature.form == "program":
        return {"main.py": _PROGRAM}
    main = _HARNESS.replace("@MARK@", MARK)
    if signature.class_name:
        methods = ", ".join(
            f"({('__init__' if f.name == 'init' else f.name)!r}, [{_kinds(f)}], {_kind(f.result)})"
            for f in signature.functions
        )
        body = [
            f"methods = [{methods}]",
            "count, _ = int(word()), word()",
            f"made = solution.{signature.class_name}(*[read(kind) for kind in methods[0][1]])",
            "for _ in range(count - 1):",
            "    name, kinds, result = methods[int(word())]",
            "    write(result, getattr(made, name)(*[read(kind) for kind in kinds]))",
        ]
    else:
        function = signature.function
        owner = "solution" if signature.form == "function" else "solution.Solution()"
        body = [
            f"arguments = [read(kind) for kind in [{_kinds(function)}]]",
            f"write({_kind(function.result)}, {owner}.{function.name}(*arguments))",
        ]
    main += indented([*body, "done()"]) + "\n\nfor _ in range(int(sys.argv[1]) if sys.argv[1:] else 1):\n    main()\n"
    return {"main.py": main, "structures.py": _STRUCTURES, "preamble.py": signature.preamble}


PYTHON = Language(
    name="python3",
    title="Python 3",
    file="solution.py",
    programs=(),
    starter=_starter,
    harness=_harness,
    run=lambda _: ("@python@", "-I", "-S", "-B", "/work/main.py"),
    remedy="it is what Heredity runs on",
)
