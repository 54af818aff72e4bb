"""JavaScript, by Node. Not in the paper."""

from __future__ import annotations

import json

from heredity.kinds.code.languages.contract import MARK, Language
from heredity.kinds.code.signature import Function, Signature, Type

_NAMES = {
    "int": "number",
    "float": "number",
    "string": "string",
    "bool": "boolean",
    "none": "void",
    "tree": "TreeNode",
    "linked-list": "ListNode",
}

_HARNESS = """\
"use strict";
const fs = require("fs"), vm = require("vm");

globalThis.require = require;
globalThis.ListNode = class ListNode {
  constructor(val = 0, next = null) { this.val = val; this.next = next; }
};
globalThis.TreeNode = class TreeNode {
  constructor(val = 0, left = null, right = null) { this.val = val; this.left = left; this.right = right; }
};
const Linked = ListNode, Tree = TreeNode;

const words = fs.readFileSync(0, "latin1").split("\\n").filter((word) => word !== "");
const out = [], print = process.stdout.write.bind(process.stdout);
let place = 0;
const word = () => words[place++];

function integer(text) {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}

function read(kind) {
  const [name, item] = kind;
  if (name === "int") return integer(word());
  if (name === "float") return Number(word());
  if (name === "bool") return word() === "1";
  if (name === "string") return Buffer.from(word().slice(1), "hex").toString("utf8");
  if (name === "list") return Array.from({ length: Number(word()) }, () => read(item));
  if (name === "linked-list") {
    const first = new Linked();
    for (let last = first, n = Number(word()); n > 0; n--) last = last.next = new Linked(integer(word()));
    return first.next;
  }
  const nodes = Array.from({ length: Number(word()) }, word).map((w) => (w === "n" ? null : new Tree(integer(w))));
  let next = 1;
  for (const node of nodes) {
    if (node === null) continue;
    if (next < nodes.length) node.left = nodes[next++];
    if (next < nodes.length) node.right = nodes[next++];
  }
  return nodes.length ? nodes[0] : null;
}

function number(value) {
  if (typeof value !== "bigint" && !Number.isInteger(value)) throw new TypeError("an answer that is no integer");
  return String(BigInt(value));
}

function write(kind, value) {
  const [name, item] = kind;
  if (value === undefined && !["none", "linked-list", "tree"].includes(name)) throw new TypeError("nothing was returned");
  if (name === "int") out.push(number(value));
  else if (name === "float") out.push(String(Number(value)));
  else if (name === "bool") out.push(value === true ? "1" : value === false ? "0" : "?");
  else if (name === "string") {
    if (typeof value !== "string") throw new TypeError("an answer that is no string");
    out.push("x" + Buffer.from(value, "utf8").toString("hex"));
  } else if (name === "list") {
    if (!Array.isArray(value) && !ArrayBuffer.isView(value)) throw new TypeError("an answer that is no array");
    out.push(String(value.length));
    for (let i = 0; i < value.length; i++) write(item, value[i]);
  } else if (name === "linked-list") {
    const values = [];
    for (; value; value = value.next) values.push(number(value.val));
    out.push(String(values.length), ...values);
  } else if (name === "tree") {
    const nodes = [value], values = [];
    for (let i = 0; i < nodes.length; i++) {
      if (!nodes[i]) values.push("n");
      else {
        values.push(number(nodes[i].val));
        nodes.push(nodes[i].left, nodes[i].right);
      }
    }
    while (values.length && values[values.length - 1] === "n") values.pop();
    out.push(String(values.length));
    for (const one of values) out.push(one);
  }
}

const source = fs.readFileSync("/work/solution.js", "utf8");
const solution = vm.runInThisContext(source + "\\n;@NAME@", { filename: "solution.js" });
@BODY@
print("\\n@MARK@\\n" + out.map((one) => one + "\\n").join(""));
"""


def _type_name(kind: Type) -> str:
    return f"{_type_name(kind.item)}[]" if kind.item else _NAMES[kind.name]


def _header(function: Function, name: str, indent: str = "") -> str:
    documented = [f" * @param {{{_type_name(p.type)}}} {p.name}" for p in function.parameters]
    returned = [] if name == "constructor" else [f" * @return {{{_type_name(function.result)}}}"]
    lines = ["/**", *documented, *returned, " */"] if documented or returned else []
    begin = name if indent else f"function {name}"
    lines += [f"{begin}({', '.join(p.name for p in function.parameters)}) {{", "", "}"]
    return "".join(f"{indent}{line}\n" if line else "\n" for line in lines)


def _starter(signature: Signature) -> str:
    if not signature.class_name:
        return _header(signature.function, signature.function.name)
    names = ["constructor", *(function.name for function in signature.functions[1:])]
    methods = [_header(function, name, "  ") for function, name in zip(signature.functions, names, strict=True)]
    return f"class {signature.class_name} {{\n" + "\n".join(methods) + "}\n"


def _kind(kind: Type) -> list[object]:
    return [kind.name, _kind(kind.item)] if kind.item else [kind.name]


def _kinds(function: Function) -> list[list[object]]:
    return [_kind(p.type) for p in function.parameters]


def _harness(signature: Signature) -> dict[str, str]:
    function = signature.function
    if signature.class_name:
        methods = [[f.name, _kinds(f), _kind(f.result)] for f in signature.functions]
        body = (
            f"const methods = {json.dumps(methods)};\n"
            "const count = Number(word());\nword();\nconst made = new solution(...methods[0][1].map(read));\n"
            "for (let i = 1; i < count; i++) {\n"
            "  const [name, kinds, result] = methods[Number(word())];\n"
            "  write(result, made[name](...kinds.map(read)));\n}"
        )
    else:
        body = f"write({json.dumps(_kind(function.result))}, solution(...{json.dumps(_kinds(function))}.map(read)));"
    name = signature.class_name or function.name
    main = _HARNESS.replace("@MARK@", MARK).replace("@NAME@", name).replace("@BODY@", body)
    return {"main.js": main}


JAVASCRIPT = Language(
    name="javascript",
    title="JavaScript",
    file="solution.js",
    programs=("node",),
    starter=_starter,
    harness=_harness,
    compile="@node@/bin/node --check solution.js",
    # Each thread gets a stack of the first one's maximum size, which would use most of the memory.
    run=lambda megabytes: (
        *("/bin/sh", "-c", 'ulimit -Ss 65536 && exec "$0" "$@"', "@node@/bin/node", "--stack-size=60000"),
        *(f"--max-old-space-size={megabytes}", "--stack-trace-limit=3", "/work/main.js"),
    ),
    remedy="apt-get install nodejs",
    heap_apart=True,
)
