"""Tools and skills written by agents: candidates, tested by their contract in the sandbox (Autogenesis, section 4).

A tool is a program with a description, the schema of its arguments and contract tests, `contract.json` next to
`tool.py`:

    [{"arguments": {"n": 3}, "returns": 9}, {"arguments": {"n": -1}, "fails": true}]

A later edit has to pass the earlier tests, too. A skill is a SKILL.md (a text for agents to read). Tools and skills
that pass join the team in the next round; the others are stored as refused versions.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from heredity._core.errors import ConfigError
from heredity._core.ids import digest_json
from heredity._core.outside import json_value
from heredity.engine.actor import Programs, ProvidedTool
from heredity.engine.tools import read_tool
from heredity.models import ToolSpec
from heredity.resources import SourceTree
from heredity.resources.assembly import draft_of, files_of, part_of
from heredity.resources.building import SKILL, check
from heredity.resources.contracts import read_contract
from heredity.resources.versions import Manifest
from heredity.team.agent import TeamTool, shortened
from heredity.team.design import TeamParts
from heredity.team.evolution.trials import NAME, PROPOSAL
from heredity.team.participant import Context

WRITE_TOOL, WRITE_SKILL = "write_tool", "write_skill"
CONTRACT = "contract.json"
_CODE = "tool.py"
_SECONDS = 10.0
_MOST_TESTS = 20
_MOST_CHARS = 60_000
_TOLERANCE = 1e-9


def writing_tools(programs: Programs, context: Context) -> dict[str, TeamTool]:
    """Return the tools `write_tool` and `write_skill`, by name."""

    async def write_tool(arguments: Mapping[str, Any]) -> str:
        try:
            name, part = tool_part(arguments)
            wrong = await contract_failure(programs, f"tool/{name}", part, part)
        except ConfigError as error:
            return f"error: {error}"
        return await _proposed(context, name, part, wrong)

    async def write_skill(arguments: Mapping[str, Any]) -> str:
        try:
            name, part = skill_part(arguments["text"])
        except ConfigError as error:
            return f"error: {error}"
        return await _proposed(context, name, part, "")

    return {
        WRITE_TOOL: TeamTool(ProvidedTool(_TOOL, write_tool), lasting=True),
        WRITE_SKILL: TeamTool(ProvidedTool(_SKILL, write_skill), lasting=True),
    }


async def _proposed(context: Context, name: str, part: SourceTree, wrong: str) -> str:
    body = {"name": name, "files": part.texts(), "wrong": wrong}
    await context.send(NAME, body, kind=PROPOSAL, key=f"{PROPOSAL}-{digest_json(body)[:12]}")
    if wrong:
        return f"error: {name} is not taken: {wrong}"
    return f"{name} is written; it can be used from the next round on, if it costs nothing that was solved before"


def tool_part(arguments: Mapping[str, Any]) -> tuple[str, SourceTree]:
    """Return a proposed tool as a part, with its name.

    Raises:
        ConfigError: if it is not a valid tool, or its tests are invalid; the message says why.
    """
    name = str(arguments["name"])
    contract = json.dumps(arguments["tests"], indent=1, ensure_ascii=False)
    tests_of(SourceTree({CONTRACT: contract}), f"tool/{name}")
    manifest = Manifest(str(arguments["description"]), arguments=arguments.get("schema") or {})
    part = part_of(SourceTree({_CODE: str(arguments["code"]), CONTRACT: contract}), manifest)
    draft = draft_of(f"tool/{name}", part)
    check(draft.type, draft.name, draft.tree, draft.manifest)
    read_tool(name, part)
    return name, part


def skill_part(text: str) -> tuple[str, SourceTree]:
    """Return a SKILL.md as a part, with its name.

    Raises:
        ConfigError: if it is invalid, see `heredity.resources.contracts.read_contract`.
    """
    contract = read_contract(text, where=SKILL)
    if not contract.text:
        raise ConfigError(
            f"{SKILL} of {contract.name} is empty below its front matter; say what is to be done, and when"
        )
    return contract.name, part_of(SourceTree({SKILL: text}), Manifest(contract.description))


def tests_of(part: SourceTree, label: str) -> list[dict[str, Any]]:
    """Return the tests of a tool's contract; none if it has no `contract.json`.

    Raises:
        ConfigError: if they are not a list of 1 to 20 objects with `arguments` and either `returns` or `fails`.
    """
    if CONTRACT not in part:
        return []
    where = f"{CONTRACT} of {label}"
    try:
        value = json_value(part.text(CONTRACT))
    except ValueError as error:
        raise ConfigError(f"{where} is not JSON: {error}; give a list of tests") from error
    if not isinstance(value, list) or not 1 <= len(cast("list[Any]", value)) <= _MOST_TESTS:
        raise ConfigError(f"{where} is no list of 1 to {_MOST_TESTS} tests; give each arguments, and returns or fails")
    for number, test in enumerate(cast("list[Any]", value), 1):
        given: Any = test.get("arguments") if isinstance(test, dict) else None
        if not isinstance(given, dict) or ("returns" in test) == (test.get("fails") is True):
            raise ConfigError(
                f'{where}, test {number}: {test!r:.120} is no test; write {{"arguments": {{…}}, "returns": …}}, or "fails": true'
            )
    return cast("list[dict[str, Any]]", value)


async def contract_failure(programs: Programs, label: str, part: SourceTree, *contracts: SourceTree) -> str:
    """Run the tests of contracts on a tool, in the sandbox, and return the first that fails; `""` if none does.

    Raises:
        ConfigError: if a contract is invalid.
        HostError: if the sandbox fails.
    """
    tests = [test for contract in contracts for test in tests_of(contract, label)]
    if _CODE not in part:
        return f"it has no {_CODE} any more" if tests else ""
    for test in tests:
        result = await programs.call(files_of(part), "tool:run", test["arguments"], seconds=_SECONDS)
        asked = f"with {shortened(json.dumps(test['arguments'], ensure_ascii=False), 200)}"
        if test.get("fails") and not result.error:
            return f"{asked} it is to fail, and returned {result.value!r:.200}"
        if not test.get("fails") and result.error:
            return f"{asked} it failed: {result.error}: {result.message}"[:600]
        if not test.get("fails") and not _equal(result.value, test["returns"]):
            return f"{asked} it is to return {test['returns']!r:.200}, and returned {result.value!r:.200}"
    return ""


async def contracts_failure(programs: Programs, team: TeamParts, base: TeamParts) -> str:
    """Return the first failing test of a team's tools that differ from the base: their new tests and the earlier ones."""
    for name, part in team.candidate.parts.items():
        before = base.candidate.parts.get(name)
        if name.startswith("tool/") and part != before:
            contracts: Sequence[SourceTree] = [part] if before is None else [before, part]
            if wrong := await contract_failure(programs, name, part, *contracts):
                return f"{name} breaks its contract: {wrong}"
    return ""


def _equal(value: Any, expected: Any) -> bool:
    """Return whether JSON values are equal, with numbers compared up to rounding."""
    if isinstance(value, bool) or isinstance(expected, bool):
        return value is expected
    if isinstance(value, int | float) and isinstance(expected, int | float):
        return math.isclose(value, expected, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    if isinstance(value, list) and isinstance(expected, list):
        ours, theirs = cast("list[Any]", value), cast("list[Any]", expected)
        return len(ours) == len(theirs) and all(map(_equal, ours, theirs))
    if isinstance(value, dict) and isinstance(expected, dict):
        mine, wanted = cast("dict[str, Any]", value), cast("dict[str, Any]", expected)
        return mine.keys() == wanted.keys() and all(_equal(mine[key], wanted[key]) for key in mine)
    return type(value) is type(expected) and value == expected


_TEST = {
    "type": "object",
    "properties": {"arguments": {"type": "object"}, "returns": {}, "fails": {"type": "boolean"}},
    "required": ["arguments"],
}
_TOOL = ToolSpec(
    WRITE_TOOL,
    "Writes a tool for the team: a Python module tool.py with a function run(…) that returns JSON values, without network or "
    "files. Its tests are run at once; what passes them can be used from the next round on.",
    {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "lower-case words with hyphens"},
            "description": {"type": "string", "description": "what it does and when to use it"},
            "schema": {
                "type": "object",
                "description": "JSON schema of the arguments; by default that of run's signature",
            },
            "code": {"type": "string", "maxLength": _MOST_CHARS},
            "tests": {"type": "array", "items": _TEST, "minItems": 1, "maxItems": _MOST_TESTS},
        },
        "required": ["name", "description", "code", "tests"],
        "additionalProperties": False,
    },
)
_SKILL = ToolSpec(
    WRITE_SKILL,
    "Writes a skill for the team: a SKILL.md, front matter with name and description and then the instructions, that agents can "
    "read from the next round on.",
    {
        "type": "object",
        "properties": {"text": {"type": "string", "maxLength": _MOST_CHARS}},
        "required": ["text"],
        "additionalProperties": False,
    },
)
