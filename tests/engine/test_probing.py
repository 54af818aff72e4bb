"""The probe: harnesses that cannot run are found out, and those that can are let through."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.engine.harnesses import harness, with_files
from tests.kinds.container.test_working import WRONG

from heredity import library
from heredity._core.errors import HostError
from heredity.engine.programs import SandboxedPrograms
from heredity.kinds.container.kind import probe
from heredity.resources import Candidate, SourceTree
from heredity.resources.assembly import candidate_from_folder, with_variables

pytestmark = pytest.mark.asyncio(loop_scope="module")
EXAMPLE = Path(library.__path__[0]) / "harnesses" / "worker"
RUN = "def run(path: str):\n    return path\n"


async def test_the_shipped_harness_and_small_ones_pass(programs: SandboxedPrograms) -> None:
    about = json.dumps({"parameters": {"style": "react"}})
    react = Candidate({"prompt/system": SourceTree({"prompt.md": "Work.", "resource.json": about})})
    own = "from heredity_guest import ask\n\ndef solve(problem, host):\n    return ask('shell', {'command': 'ls'})\n"
    silent = "def solve(problem, host):\n    return 'Yes.'\n"
    several = with_files(
        harness(), {"middleware/a-1.py": "from heredity_harness import Middleware\nclass A(Middleware): pass\n"}
    )
    for made in (
        candidate_from_folder(EXAMPLE),
        harness(None),
        harness(None, tool_look=RUN),
        harness(),
        harness(own),
        harness(silent),
        several,
        react,
    ):
        assert await probe(made, programs) == ""


@pytest.mark.parametrize("name", WRONG)
async def test_a_middleware_that_breaks_the_contract_is_found(programs: SandboxedPrograms, name: str) -> None:
    lines, message = WRONG[name]
    said = await probe(harness(middleware=lines), programs)
    assert said.startswith("agent/solver: tool_error: ContractError: middleware/one.py: ")
    assert message in said
    assert "\n" not in said


BROKEN = {
    "a tool with the name of the shell": (harness(None, tool_shell=RUN), "tool/shell has the name"),
    "no solve": (harness("x = 1\n"), "agent.py: it has no function solve"),
    "an import that does not exist": (harness("import torch\n"), "'torch' is not available to programs"),
    "a crash in solve": (harness("def solve(problem, host):\n    return host['nothing']\n"), "KeyError: 'nothing'"),
    "no answer": (harness("def solve(problem, host):\n    return None\n"), "solve returned null"),
    "an empty answer": (harness("def solve(problem, host):\n    return ''\n"), "solve returned an empty text"),
    "wrong messages": (
        harness("from heredity_guest import ask\ndef solve(problem, host):\n    ask('model', {'messages': ['hi']})\n"),
        "expected one with 'role'",
    ),
    "an endless loop": (harness(middleware="def after_tool(self, call, result):\n    while True: pass"), "timeout"),
    "a tool that does not load": (harness(None, tool_look=f"1 / 0\n{RUN}"), "tool/look: tool_error: ZeroDivisionError"),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_what_cannot_run_is_said_in_one_line(
    programs: SandboxedPrograms, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, message = BROKEN[name]
    if name == "an endless loop":
        monkeypatch.setattr("heredity.kinds.container.kind.PROGRAM_SECONDS", 0.5)
    said = await probe(made, programs)
    assert message in said, said
    assert said.count("\n") == 0
    assert len(said) <= 401


async def test_a_file_has_one_middleware(programs: SandboxedPrograms) -> None:
    two = "from heredity_harness import Middleware\nclass A(Middleware): pass\nclass B(Middleware): pass\n"
    for text, count in ((two, 2), ("x = 1\n", 0), ("from heredity_harness import Middleware\n", 0)):
        said = await probe(with_files(harness(), {"middleware/two.py": text}), programs)
        assert f"middleware/two.py: has {count} such classes" in said


async def test_arguments_that_a_tool_does_not_take_are_found(programs: SandboxedPrograms) -> None:
    schema = {"type": "object", "properties": {"file": {"type": "string"}}}
    about = json.dumps({"description": "Looks.", "arguments": schema})
    made = Candidate({"tool/look": SourceTree({"tool.py": RUN, "resource.json": about})})
    assert "run does not take the arguments of its schema" in await probe(made, programs)


async def test_an_edit_that_forgets_to_return_is_found_and_its_repair_passes(programs: SandboxedPrograms) -> None:
    name = "agent/solver:middleware/30_note.py"
    text = (
        "from heredity_harness import Message, Middleware\n\n\nclass Note(Middleware):\n"
        "    def before_model(self, messages):\n        shown = [*messages, Message('user', 'Check your work.')]\n"
    )
    before = candidate_from_folder(EXAMPLE)
    assert "30_note.py: before_model returned None" in await probe(with_variables(before, {name: text}), programs)
    assert await probe(with_variables(before, {name: f"{text}        return shown\n"}), programs) == ""


async def test_a_sandbox_that_fails_is_not_the_harnesss_fault() -> None:
    programs = SandboxedPrograms(1)
    await programs.close()
    with pytest.raises(HostError):
        await probe(harness(), programs)
