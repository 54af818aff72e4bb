"""Nobody knows a protocol by name but its own folder: not by a string, not by a class, not by a dictionary of names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from heredity.protocols.registry import PROTOCOLS

SOURCE = Path(__file__).parents[2] / "src" / "heredity"

FOLDERS = {
    path.name for path in (SOURCE / "protocols").iterdir() if (path / "__init__.py").exists() and path.name != "shared"
}

ALLOWED = {
    # What a configuration that names no protocol is taken for.
    ("configuration/sections.py", "policy-evolution"),
    # Programs are evolved by a command of their kind.
    ("kinds/program/commands/evolving.py", "program-evolution"),
    # The command line lists every command, those of protocols among them.
    ("cli/main.py", "heredity.protocols.harness_evolution"),
    ("cli/main.py", "heredity.protocols.team_questions"),
    ("cli/main.py", "heredity.protocols.world_generation"),
    # The benchmark of one protocol's analysis.
    ("bench/run_folders.py", "heredity.protocols.harness_evolution"),
}
"""Module and what it names, each with its reason."""


def named(tree: ast.AST) -> Iterator[str]:
    """The protocols that a module names: by their names, or by the folder that an import is from."""
    known = PROTOCOLS.names()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in known:
            yield node.value
        modules: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            modules = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        for module in modules:
            parts = module.split(".")
            if parts[:2] == ["heredity", "protocols"] and len(parts) > 2 and parts[2] in FOLDERS:
                yield ".".join(parts[:3])


def outside() -> list[Path]:
    """Every module but those in the folders of protocols, content, and the list of built-in parts."""
    own = [SOURCE / "_core" / "built_in.py", *(SOURCE / "protocols" / name for name in FOLDERS)]
    modules = sorted(SOURCE.rglob("*.py"))
    return [path for path in modules if not any(path.is_relative_to(top) for top in (*own, SOURCE / "library"))]


def test_no_protocol_is_named_outside_its_own_folder() -> None:
    wrong: list[str] = []
    for path in outside():
        module = str(path.relative_to(SOURCE))
        names = {name for name in named(ast.parse(path.read_text())) if (module, name) not in ALLOWED}
        if names:
            wrong.append(
                f"{module} names {', '.join(sorted(names))}; what depends on a protocol belongs into its folder"
            )
    assert not wrong, "\n".join(wrong)


def test_the_search_finds_names_imports_and_dictionaries() -> None:
    code = "\n".join(
        (
            "if run.protocol == 'post-training': pass",
            "JUDGES = {'agent-learning': 1}",
            "from heredity.protocols.harness_evolution.terms import HarnessTerms",
            "from heredity.protocols import policy_evolution",
            "import heredity.protocols.resource_evolution.metrics",
        )
    )
    assert set(named(ast.parse(code))) == {
        "post-training",
        "agent-learning",
        "heredity.protocols.harness_evolution",
        "heredity.protocols.policy_evolution",
        "heredity.protocols.resource_evolution",
    }


def test_a_protocol_is_called_what_its_entry_is_called() -> None:
    for name in PROTOCOLS.names():
        protocol = PROTOCOLS.load(name)
        assert protocol.name == name
        assert protocol.summary


def test_nine_protocols_come_with_heredity_and_are_found_as_anybody_elses() -> None:
    assert len(PROTOCOLS.own()) == 9
