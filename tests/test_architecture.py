"""The direction of imports, names, and what importing the package costs."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from heredity.sandbox import inference as confinement

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import house

SOURCE = Path(__file__).parents[1] / "src" / "heredity"

LAYERS = [
    {"_core"},
    {"results"},
    {"records"},
    {"resources"},
    {"sandbox"},
    {"models"},
    {"tasks"},
    {"engine"},
    {"configuration"},
    {"kinds"},
    {"methods"},
    {"session"},
    {"analysis"},
    {"agents"},
    {"team"},
    {"protocols"},
    {"pages"},
    {"experiments"},
    {"each protocol"},
    {"attacks", "bench"},
    {"_api", "cli"},
    {"library"},
]
"""From the bottom up: a folder may import its own and those before it. The folder of each protocol stands high, since nothing
needs to know it: it is found by its name, as those of other packages are. A kind's or a protocol's `commands` belong to the
command line."""

RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}

GUEST = SOURCE / "sandbox" / "guest"


LIBRARY = SOURCE / "library"


def packaged(path: Path) -> bool:
    """Return whether a module can be imported: of the library, what agents and tasks are given are files and no modules."""
    folders = list(path.parents)[: list(path.parents).index(LIBRARY)] if LIBRARY in path.parents else ()
    return all((folder / "__init__.py").exists() for folder in folders)


def modules() -> list[Path]:
    return sorted(filter(packaged, SOURCE.rglob("*.py")))


@dataclass(frozen=True)
class Read:
    """What these tests ask of a module: parsed and walked once, for there are a thousand."""

    imported: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """Lines and modules."""


@cache
def read(path: Path) -> Read:
    module = Read()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            module.imported.append((node.lineno, node.module))
        elif isinstance(node, ast.Import):
            module.imported.extend((node.lineno, alias.name) for alias in node.names)
    return module


def folder_of(path: Path) -> str:
    return layer_of(path.relative_to(SOURCE).with_suffix("").parts)


def layer_of(parts: Sequence[str]) -> str:
    """Return the layer of a module, given its path below the package."""
    if "commands" in parts:
        return "cli"
    own = parts[0] == "protocols" and len(parts) > 1 and (SOURCE / "protocols" / parts[1]).is_dir()
    return "each protocol" if own else parts[0]


def test_a_module_imports_only_from_its_own_folder_and_those_below() -> None:
    wrong: list[str] = []
    for path in modules():
        own = folder_of(path)
        if own in {"__init__", "__main__"}:
            continue
        assert own in RANK, f"{own} has no place in the direction of imports; add it to LAYERS and ARCHITECTURE.md"
        for line, name in read(path).imported:
            parts = name.split(".")
            if parts[0] == "heredity" and len(parts) > 1 and RANK[layer_of(parts[1:])] > RANK[own]:
                wrong.append(f"{path}:{line} imports {name}, which lies above {own}")
    assert not wrong, "\n".join(wrong)


def test_no_kind_and_no_protocol_is_imported_from_outside_its_folder() -> None:
    undeclared, _ = house.crossings(house.imports(house.modules()))
    assert not undeclared, "\n".join(f"{pair.importer} imports {pair.imported}" for pair in undeclared)


def test_a_method_never_sees_the_judge() -> None:
    for path in (SOURCE / "methods").rglob("*.py"):
        assert not [name for _, name in read(path).imported if name.startswith("heredity.session")], path


@pytest.mark.parametrize("path", sorted(GUEST.glob("*.py")), ids=lambda p: p.name)
def test_what_runs_beside_untrusted_programs_imports_nothing_of_heredity(path: Path) -> None:
    assert not [name for _, name in read(path).imported if name.split(".")[0] == "heredity"]


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = (
        "import sys, heredity\n"
        "print([m for m in ('numpy', 'gymnasium', 'torch', 'pydantic', 'polars', 'starlette', 'typer') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_environment_workers_load_nothing_heavy() -> None:
    code = (
        "import sys, heredity.kinds.policy.environment_worker\n"
        "print([m for m in ('pydantic', 'torch', 'polars') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_what_is_shown_to_the_sandbox_of_a_model_imports_nothing_that_is_not(tmp_path: Path) -> None:
    for name in confinement._OWN:
        shown, there = tmp_path / "heredity" / name, SOURCE / name
        shown.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if there.is_dir() else shutil.copy)(there, shown)
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import {confinement._MODULE} as guest; print(guest.__file__)"
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path))
