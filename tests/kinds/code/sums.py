"""A problem of the tests' own: the sum of some numbers; and solutions of it, each with room for a line that does more."""

from __future__ import annotations

from pathlib import Path

from heredity.kinds.code.problem import Problem, read_problem

FILES = {
    "problem.toml": """
title = "Sum"
difficulty = "easy"
tags = ["math"]
memory_mb = 64
slow = "adding takes no longer in any other way"

[signature]
name = "total"
parameters = { numbers = "list[int]" }
returns = "int"

[[examples]]
case = "[[1, 2]]"
answer = "3"
""",
    "statement.md": "Return the sum.\n",
    "reference.py": "class Solution:\n    def total(self, numbers):\n        return sum(numbers)\n",
    "brute.py": "class Solution:\n    def total(self, numbers):\n        return sum(reversed(numbers))\n",
    "tests.py": "def small(random):\n    return [[random.randint(-9, 9)]]\n\n\ndef cases(random):\n    yield [[2**40, 1]]\n",
}

SOLUTIONS = {
    "python3": "class Solution:\n    def total(self, numbers):\n        {}\n        return sum(numbers)\n",
    "cpp": "class Solution {{ public: long long total(vector<long long>& numbers) {{\n"
    "{} long long s = 0; for (auto n : numbers) s += n; return s; }} }};",
    "java": "class Solution {{ public long total(long[] numbers) {{ {} long s = 0; for (long n : numbers) s += n; return s; }} }}",
    "go": "func total(numbers []int) int {{ {}; s := 0; for _, n := range numbers {{ s += n }}; return s }}",
    "javascript": "function total(numbers) {{ {}; return numbers.reduce((a, b) => a + b, 0); }}",
    "kotlin": "class Solution {{ fun total(numbers: LongArray): Long {{ {}; return numbers.sum() }} }}",
}


def write(folder: Path, **changes: str) -> Problem:
    folder.mkdir(exist_ok=True)
    for name, text in {**FILES, **changes}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return read_problem(folder)


def in_python(line: str) -> str:
    return SOLUTIONS["python3"].format(line)
