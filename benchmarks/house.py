"""How large the house is and how many walls it has: figures of the source tree, from its syntax alone but for one.

    python benchmarks/house.py --json
    python benchmarks/house.py --list single_importer_modules

Machinery is every module of `src/heredity` outside `library/`. `files_of_a_submission` runs one submission of a policy in this
process and counts the modules of Heredity whose functions run on the host between the request and the reply. A module counts as
having a single importer where exactly one other module imports it, packages' `__init__.py` left out; entry points, modules run by
their name and tests are not importers. `cross_boundary_imports` counts imports of a kind or a protocol from outside its folder;
`declared_imports` are those that tests/test_architecture.py declares: a protocol made for one kind of task uses that kind, and
the command line and the registries name what they offer.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import json
import re
import sys
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "heredity"

COMPOSING = ("heredity", "heredity.cli.main")
"""The public names and the command line: they list what is offered, so they name kinds and protocols."""

ABOUT = {"post_training": "checkpoint", "world_generation": "world", "program_evolution": "program"}
"""Protocols that are about one kind of task, and that kind."""


@dataclass(frozen=True)
class Import:
    """An import of one module by another, both by their full names."""

    importer: str
    imported: str


def modules() -> Mapping[str, Path]:
    """Return the machinery's modules by full name, packages by the name of their folder."""
    paths = [path for path in sorted(SOURCE.rglob("*.py")) if path.relative_to(SOURCE).parts[0] != "library"]
    return {_name(path): path for path in paths}


def _name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(paths: Mapping[str, Path]) -> list[Import]:
    """Return who imports whom among `paths`, wherever in a module the import stands, each pair once."""
    pairs: set[tuple[str, str]] = set()
    for importer, path in paths.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = _absolute(node, importer, package=path.name == "__init__.py")
                names = [f"{base}.{alias.name}" for alias in node.names]
            pairs.update((importer, owner) for name in names if (owner := _owner(name, paths)) not in ("", importer))
    return [Import(*pair) for pair in sorted(pairs)]


def _absolute(node: ast.ImportFrom, importer: str, *, package: bool) -> str:
    if not node.level:
        return node.module or ""
    parts = importer.split(".")
    base = parts[: len(parts) - node.level + package]
    return ".".join([*base, node.module] if node.module else base)


def _owner(name: str, paths: Mapping[str, Path]) -> str:
    """Return the module that defines a dotted name, or an empty text for what is not ours."""
    while name and name not in paths:
        name = name.rpartition(".")[0]
    return name if name.startswith("heredity.") else ""


def single_importers(paths: Mapping[str, Path], pairs: Sequence[Import]) -> list[str]:
    """Return the modules that exactly one other imports."""
    importers: defaultdict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        importers[pair.imported].add(pair.importer)
    return [name for name, path in paths.items() if path.name != "__init__.py" and len(importers[name]) == 1]


def boundary(name: str) -> tuple[str, str] | None:
    """Return the kind or protocol that a module belongs to, such as `("kinds", "world")`; None for those of neither."""
    parts = name.split(".")[1:]
    folder = len(parts) > 1 and parts[0] in ("kinds", "protocols") and (SOURCE / parts[0] / parts[1]).is_dir()
    folder = folder and parts[1] != "shared"  # what protocols are made of
    return (parts[0], parts[1]) if folder else None


def crossings(pairs: Sequence[Import]) -> tuple[list[Import], list[Import]]:
    """Return the imports of kinds and protocols from outside their folders: the undeclared ones, and the declared ones."""
    crossing = [pair for pair in pairs if boundary(pair.imported) not in (None, boundary(pair.importer))]
    declared = [pair for pair in crossing if _declared(pair)]
    return [pair for pair in crossing if pair not in declared], declared


def _declared(pair: Import) -> bool:
    own, other = boundary(pair.importer), boundary(pair.imported)
    about = own is not None and own[0] == "protocols" and other == ("kinds", ABOUT.get(own[1], ""))
    return about or pair.importer in COMPOSING or pair.importer.split(".")[1] in ("bench", "attacks")


def public_names() -> list[str]:
    """Return what the package exports."""
    import heredity

    return sorted(getattr(heredity, "__all__", ()))


def docs_words() -> int:
    """Return the words of the documentation: README, ARCHITECTURE and every page of `docs`, code blocks included."""
    pages = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *(ROOT / "docs").rglob("*.md")]
    return sum(len(re.findall(r"\S+", page.read_text(encoding="utf-8"))) for page in pages)


async def submission_files() -> list[str]:
    """Submit one CartPole episode and return the modules whose functions ran meanwhile, by path below the package."""
    from heredity._core.engine_folder import EngineFolder
    from heredity.engine.space_numbers import starter_program
    from heredity.kinds.policy.kind import EpisodeRunner
    from heredity.methods import Budget, Trial
    from heredity.records import Committer, RunFolder
    from heredity.resources import Candidate
    from heredity.session.cases import HiddenCases
    from heredity.session.session import Session, SessionRules
    from heredity.tasks.registry import taskset

    tasks = taskset("gymnasium/CartPole-v1")
    candidate = Candidate.program(starter_program(tasks.info.public))
    ran: set[str] = set()

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            ran.add(frame.f_code.co_filename)

    with EngineFolder() as root:
        train = HiddenCases.create(root / "sealed").tasks(tasks, "train", 4)
        with RunFolder.open(root / "run") as folder:
            async with EpisodeRunner(workers=1) as runner:
                rules = SessionRules(budget=Budget(episodes=8), seed=0)
                committer = Committer(folder.journal, folder.blobs)
                session = Session(committer, runner, taskset=tasks.info, tasks=train, rules=rules)
                await session.submit([Trial(candidate, (0,))], key="warm")  # imports and processes are there
                threading.setprofile_all_threads(profile) if sys.version_info >= (3, 12) else threading.setprofile(
                    profile
                )
                sys.setprofile(profile)
                await session.submit([Trial(candidate, (1,))], key="counted")
                sys.setprofile(None)
                threading.setprofile(None)
                await session.close("finished")
    paths = [Path(name) for name in ran]
    return sorted(str(path.relative_to(SOURCE)) for path in paths if path.is_relative_to(SOURCE))


def figures() -> tuple[dict[str, int], dict[str, list[str]]]:
    """Return the figures, and what each counts."""
    paths = modules()
    pairs = imports(paths)
    undeclared, declared = crossings(pairs)
    single = single_importers(paths, pairs)
    files, names = asyncio.run(submission_files()), public_names()
    values = {
        "machinery_lines": sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths.values()),
        "modules": len(paths),
        "single_importer_modules": len(single),
        "files_of_a_submission": len(files),
        "docs_words": docs_words(),
        "public_names": len(names),
        "cross_boundary_imports": len(undeclared),
        "declared_imports": len(declared),
    }
    listed = {
        "modules": list(paths),
        "single_importer_modules": single,
        "files_of_a_submission": files,
        "public_names": names,
        "cross_boundary_imports": [f"{pair.importer} imports {pair.imported}" for pair in undeclared],
        "declared_imports": [f"{pair.importer} imports {pair.imported}" for pair in declared],
    }
    return values, listed


def main() -> None:
    """Print the figures, or what one of them counts."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="Print JSON")
    parser.add_argument("--list", metavar="KEY", help="Print what a figure counts, one a line")
    arguments = parser.parse_args()
    values, listed = figures()
    if arguments.list:
        if arguments.list not in listed:
            parser.error(f"nothing to list for {arguments.list!r}; expected one of {', '.join(listed)}")
        print("\n".join(listed[arguments.list]))
    elif arguments.json:
        print(json.dumps(values, indent=1))
    else:
        print("\n".join(f"{name:<26}{value:>9,}" for name, value in values.items()))


if __name__ == "__main__":
    main()
