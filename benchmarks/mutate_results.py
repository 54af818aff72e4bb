"""Whether a renamed figure can vanish unseen: renames fields of the results, one at a time, and asks who complains.

    python benchmarks/mutate_results.py [--json] [--seed N] [--count 20] [--list]

The fields are drawn by the seed from all fields of all models of results, the core's and the protocols'. Each is renamed
alone, in the definition of its class, in a copy of the tree. First pyright checks the files that mention both the field and
its class, then all that mention the field (no other file can have an error through it); where it has nothing to say, the
tests of results are run. A mutant that neither notices has survived.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = Path("src/heredity")
MODELS = (SOURCE / "results", SOURCE / "protocols")
TESTS = ("tests/results", "tests/analysis", "tests/pages/report", "tests/protocols")
BASE = "Result"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a model: where its name stands."""

    path: Path
    model: str
    name: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.model}.{self.name}"

    @property
    def renamed(self) -> str:
        """What it is renamed to."""
        return f"{self.name}_renamed"


def fields() -> list[Field]:
    """Return all fields of all models of results, in the order of files and lines."""
    paths = [path for folder in MODELS for path in sorted((ROOT / folder).rglob("*.py"))]
    classes = [
        (path.relative_to(ROOT), node)
        for path in paths
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    models = {BASE}
    while grown := {c.name for _, c in classes if models & set(_bases(c))} - models:
        models |= grown
    return [field for path, node in classes if models & set(_bases(node)) for field in _fields(path, node)]


def _bases(node: ast.ClassDef) -> list[str]:
    return [base.id for base in node.bases if isinstance(base, ast.Name)]


def _fields(path: Path, node: ast.ClassDef) -> Iterator[Field]:
    for line in node.body:
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and line.target.id != "model_config":
            yield Field(path, node.name, line.target.id, line.target.lineno, line.target.col_offset)


def killer(field: Field, tree: Path) -> str | None:
    """Rename a field in a copy of the tree, return who complains, and restore it; None if nobody does."""
    path = tree / field.path
    before = path.read_text(encoding="utf-8")
    lines = before.split("\n")
    line, start = lines[field.line - 1], field.column
    lines[field.line - 1] = f"{line[:start]}{field.renamed}{line[start + len(field.name) :]}"
    path.write_text("\n".join(lines), encoding="utf-8")
    try:
        mentions = [p for p in sorted((tree / SOURCE).rglob("*.py")) if _mentions(p, field.name)]
        producers = [p for p in mentions if _mentions(p, field.model)]
        if complaint := _pyright(tree, producers, field):
            return complaint
        others = [p for p in mentions if p not in producers]
        if complaint := _pyright(tree, others, field):
            return complaint
        return _tests(tree)
    finally:
        path.write_text(before, encoding="utf-8")


def _mentions(path: Path, name: str) -> bool:
    return re.search(rf"\b{name}\b", path.read_text(encoding="utf-8")) is not None


def _pyright(tree: Path, paths: Sequence[Path], field: Field) -> str | None:
    """Return the first error that names the field, before or after."""
    if not paths:
        return None
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, *map(str, paths)]
    done = subprocess.run(command, check=False, cwd=tree, capture_output=True, text=True)
    for diagnostic in json.loads(done.stdout)["generalDiagnostics"]:
        message = diagnostic["message"].splitlines()[0]
        if diagnostic["severity"] == "error" and (f'"{field.name}"' in message or f'"{field.renamed}"' in message):
            at = Path(diagnostic["file"]).relative_to(tree)
            return f"pyright: {at}:{diagnostic['range']['start']['line'] + 1}: {message}"
    return None


def _tests(tree: Path) -> str | None:
    """Return the first test that fails; the tests import the copy."""
    there = [name for name in TESTS if (tree / name).exists()]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *there]
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    done = subprocess.run(command, check=False, cwd=tree, capture_output=True, text=True, env=environment)
    if done.returncode == 0:
        return None
    failed = next((line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))), "the tests")
    return f"tests: {failed}"


def measure(count: int, seed: int) -> dict[str, object]:
    """Return how many of so many mutants survived, and who noticed the others."""
    everything = fields()
    drawn = random.Random(seed).sample(everything, min(count, len(everything)))
    killed: dict[str, str | None] = {}
    with tempfile.TemporaryDirectory(prefix="heredity-mutants-") as name:
        tree = Path(name).resolve()
        for part in ("src", "tests", "docs"):
            shutil.copytree(ROOT / part, tree / part, ignore=shutil.ignore_patterns("__pycache__"))
        for file in ("pyproject.toml", "README.md", "ARCHITECTURE.md"):
            shutil.copy(ROOT / file, tree / file)
        for field in drawn:
            killed[str(field)] = killer(field, tree)
            print(f"{field}: {killed[str(field)] or 'SURVIVED'}", file=sys.stderr, flush=True)
    survivors = [name for name, by in killed.items() if by is None]
    return {"fields": len(everything), "mutants": len(killed), "survived": len(survivors), "survivors": survivors}


def main() -> None:
    """Print the figures; end with 1 if a mutant survived."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else on stdout")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--list", action="store_true", help="print all fields and end")
    chosen = parser.parse_args()
    if chosen.list:
        print("\n".join(map(str, fields())))
        return
    figures = measure(chosen.count, chosen.seed)
    print(json.dumps(figures) if chosen.json else f"{figures['survived']} of {figures['mutants']} mutants survived")
    sys.exit(1 if figures["survived"] else 0)


if __name__ == "__main__":
    main()
