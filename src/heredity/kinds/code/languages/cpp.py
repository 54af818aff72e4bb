"""C++ 17, by g++."""

from __future__ import annotations

from heredity.kinds.code.languages.contract import MARK, Language
from heredity.kinds.code.signature import Function, Signature, Type

_NAMES = {"int": "long long", "float": "double", "string": "string", "bool": "bool", "none": "void"}

_HARNESS = r"""#include <bits/stdc++.h>
using namespace std;
struct ListNode { long long val; ListNode *next; ListNode(long long v = 0, ListNode *n = nullptr) : val(v), next(n) {} };
struct TreeNode { long long val; TreeNode *left, *right;
  TreeNode(long long v = 0, TreeNode *l = nullptr, TreeNode *r = nullptr) : val(v), left(l), right(r) {} };
#include "solution.cpp"
namespace heredity_harness {
static vector<char> text;
static size_t place = 0;
static string out;
static string word() {
  while (place < text.size() && text[place] == '\n') ++place;
  size_t from = place;
  while (place < text.size() && text[place] != '\n') ++place;
  return string(text.data() + from, place - from);
}
static int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }
static void read(long long &v) { v = strtoll(word().c_str(), nullptr, 10); }
static void read(double &v) { v = strtod(word().c_str(), nullptr); }
static void read(bool &v) { v = word() == "1"; }
static void read(string &v) {
  string w = word();
  for (size_t i = 1; i + 1 < w.size(); i += 2) v += char(digit(w[i]) * 16 + digit(w[i + 1]));
}
static void read(ListNode *&v) {
  long long n; read(n);
  ListNode first, *last = &first;
  while (n-- > 0) { long long x; read(x); last = last->next = new ListNode(x); }
  v = first.next;
}
static void read(TreeNode *&v) {
  long long n; read(n);
  vector<TreeNode *> nodes;
  for (long long i = 0; i < n; ++i) {
    string w = word();
    nodes.push_back(w == "n" ? nullptr : new TreeNode(strtoll(w.c_str(), nullptr, 10)));
  }
  size_t next = 1;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i]) continue;
    if (next < nodes.size()) nodes[i]->left = nodes[next++];
    if (next < nodes.size()) nodes[i]->right = nodes[next++];
  }
  v = nodes.empty() ? nullptr : nodes[0];
}
template <class T> static void read(vector<T> &v) {
  long long n; read(n);
  v.reserve(size_t(n));
  for (long long i = 0; i < n; ++i) { T x{}; read(x); v.push_back(x); }
}
static void write(long long v) { out += to_string(v) + '\n'; }
static void write(double v) { char b[64]; snprintf(b, sizeof b, "%.17g\n", v); out += b; }
static void write(bool v) { out += v ? "1\n" : "0\n"; }
static void write(const string &v) {
  static const char *digits = "0123456789abcdef";
  out += 'x';
  for (unsigned char c : v) { out += digits[c >> 4]; out += digits[c & 15]; }
  out += '\n';
}
static void write(ListNode *v) {
  long long n = 0;
  for (ListNode *p = v; p; p = p->next) ++n;
  write(n);
  for (; v; v = v->next) write(v->val);
}
static void write(TreeNode *v) {
  vector<TreeNode *> nodes{v};
  vector<string> words;
  for (size_t i = 0; i < nodes.size(); ++i) {
    TreeNode *p = nodes[i];
    words.push_back(p ? to_string(p->val) : "n");
    if (p) { nodes.push_back(p->left); nodes.push_back(p->right); }
  }
  while (!words.empty() && words.back() == "n") words.pop_back();
  write((long long)words.size());
  for (auto &w : words) out += w + '\n';
}
template <class T> static void write(const vector<T> &v) {
  write((long long)v.size());
  for (const T &x : v) write(x);
}
static void begin() {
  char block[65536];
  size_t n;
  while ((n = fread(block, 1, sizeof block, stdin)) > 0) text.insert(text.end(), block, block + n);
}
static void done() {
  cout.flush();
  fflush(stdout);
  printf("\n@MARK@\n%s", out.c_str());
  fflush(stdout);
}
}  // namespace heredity_harness
int main() {
  using namespace heredity_harness;
  begin();
"""


def _type_name(kind: Type) -> str:
    if kind.item:
        return f"vector<{_type_name(kind.item)}>"
    return _NAMES.get(kind.name, "TreeNode*" if kind.name == "tree" else "ListNode*")


def _argument(kind: Type) -> str:
    return f"{_type_name(kind)}&" if kind.item else _type_name(kind)


def _header(function: Function, *, constructor: str = "") -> str:
    arguments = ", ".join(f"{_argument(p.type)} {p.name}" for p in function.parameters)
    head = constructor or f"{_type_name(function.result)} {function.name}"
    return f"    {head}({arguments}) {{\n\n    }}\n"


def _starter(signature: Signature) -> str:
    if not signature.class_name:
        return f"class Solution {{\npublic:\n{_header(signature.function)}}};\n"
    methods = [_header(signature.function, constructor=signature.class_name), *map(_header, signature.functions[1:])]
    return f"class {signature.class_name} {{\npublic:\n" + "\n".join(methods) + "};\n"


def _call(function: Function, callee: str) -> str:
    names = [f"a{i}" for i in range(len(function.parameters))]
    reads = "".join(
        f"{_type_name(p.type)} {n}{{}}; read({n}); " for n, p in zip(names, function.parameters, strict=True)
    )
    call = f"{callee}({', '.join(names)})"
    return (
        f"{reads}{call};"
        if function.result.name == "none"
        else f"{reads}write(static_cast<{_type_name(function.result)}>({call}));"
    )


def _harness(signature: Signature) -> dict[str, str]:
    if not signature.class_name:
        body = f"  Solution solution;\n  {_call(signature.function, f'solution.{signature.function.name}')}\n"
    else:
        first = signature.function.parameters
        reads = "".join(f"{_type_name(p.type)} c{i}{{}}; read(c{i}); " for i, p in enumerate(first))
        names = ", ".join(f"c{i}" for i in range(len(first)))
        body = f"  long long count, which; read(count); read(which); {reads}\n"
        body += f"  auto *made = new {signature.class_name}({names});\n"
        body += "  while (--count > 0) {\n    read(which);\n    switch (which) {\n"
        for number, function in enumerate(signature.functions[1:], 1):
            body += f"      case {number}: {{ {_call(function, f'made->{function.name}')} break; }}\n"
        body += "    }\n  }\n"
    return {"main.cpp": _HARNESS.replace("@MARK@", MARK) + body + "  done();\n}\n"}


CPP = Language(
    name="cpp",
    title="C++ 17",
    file="solution.cpp",
    programs=("g++",),
    starter=_starter,
    harness=_harness,
    compile="g++ -std=c++17 -O2 -pipe -o main main.cpp",
    outputs=("main",),
    run=lambda _: ("/work/main",),
    remedy="apt-get install g++",
    gives_up="throw 0;",
)
