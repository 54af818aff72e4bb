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

SOURCE = Path(__file__).parents[1] / "src" / "heredity"

LAYERS = [
    {"bounds", "errors", "ids", "spans", "plugins", "outside", "refusals", "workers"},
    {"results"},
    {"records"},
    {"gateway"},
    {"resources"},
    {"tasks"},
    {"sandbox"},
    {"launchers"},
    {"environments"},
    {"worlds"},
    {"actors"},
    {"configuration"},
    {"rollouts"},
    {"posttraining"},
    {"evolution"},
    {"judging", "team"},
    {"analysis"},
    {"server"},
    {"protocols"},
    {"reports", "view"},
    {"experiments"},
    {"each protocol"},
    {"bridges", "attacks", "bench"},
    {"cli"},
    {"library"},
]
"""From the bottom up: a folder may import its own and those before it. The folder of each protocol stands high, since nothing
needs to know it: it is found by its name, as those of other packages are."""

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
    defined: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """Lines, and what variables, arguments, functions and attributes are called."""


@cache
def read(path: Path) -> Read:
    module = Read()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            module.imported.append((node.lineno, node.module))
        elif isinstance(node, ast.Import):
            module.imported.extend((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            module.defined.append((node.lineno, node.id if isinstance(node, ast.Name) else node.attr))
        elif isinstance(node, ast.arg):
            module.defined.append((node.lineno, node.arg))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            module.defined.append((node.lineno, node.name))
    return module


def folder_of(path: Path) -> str:
    return layer_of(path.relative_to(SOURCE).with_suffix("").parts)


def layer_of(parts: Sequence[str]) -> str:
    """Return the layer of a module, given its path below the package."""
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


def test_a_method_never_sees_the_judge() -> None:
    for path in (SOURCE / "evolution").rglob("*.py"):
        assert not [name for _, name in read(path).imported if name.startswith("heredity.judging")], path


@pytest.mark.parametrize("path", sorted(GUEST.glob("*.py")), ids=lambda p: p.name)
def test_what_runs_beside_untrusted_programs_imports_nothing_of_heredity(path: Path) -> None:
    assert not [name for _, name in read(path).imported if name.split(".")[0] == "heredity"]


VAGUE = {"found", "place", "told", "said", "known", "each", "begun"}

NAMED_BY_A_FORMAT = {
    ("gateway/meter.py", "known"),
    ("server/broker/accounts.py", "known"),
    ("protocols/harness_evolution/task_results.py", "known"),
    ("protocols/team_questions/events.py", "place"),
    ("protocols/within_task/events.py", "told"),
    ("protocols/within_task/seen.py", "told"),
    ("records/events.py", "place"),
    ("results/page.py", "place"),
    ("rollouts/world/folder_findings.py", "found"),
    ("worlds/compose/mechanics.py", "told"),
    ("worlds/dsl/functions.py", "place"),
}
"""Fields that journals, results and recipes are written with, and a function of the language of worlds."""


def test_what_is_named_is_named_for_what_it_is() -> None:
    vague = [
        f"{path}:{line} {name}"
        for path in modules()
        if LIBRARY not in path.parents
        for line, name in read(path).defined
        if name.strip("_") in VAGUE and (str(path.relative_to(SOURCE)), name) not in NAMED_BY_A_FORMAT
    ]
    assert not vague, "name the thing: " + "\n".join(vague)


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = (
        "import sys, heredity\n"
        "print([m for m in ('numpy', 'gymnasium', 'torch', 'pydantic', 'polars', 'starlette', 'typer') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_environment_workers_load_nothing_heavy() -> None:
    code = (
        "import sys, heredity.rollouts.episode.environment_worker\n"
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
