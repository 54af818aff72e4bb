"""What teams provide to agents: documents, Python in the sandbox, other agents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError
from heredity.engine.programs import SandboxedPrograms
from heredity.engine.solver import build
from heredity.models import Reply, Request, ToolCall
from heredity.models.scripted import Scripted
from heredity.resources import Candidate
from heredity.team import Bus, Participant
from heredity.team.agent import SubAgent, TeamTool
from heredity.team.tools.documents import Corpus, DocumentReader, UnreadableDocumentError
from heredity.team.tools.own_tools import asking, python_tool

PAGE = """<html><head><title>no</title><script>steal()</script></head><body><h1>The bridge</h1>
<p>Built in <b>1883</b>,   see <a href="/tower.html">the tower</a>.</p>
<table><tr><th>part</th><td>span</td></tr></table></body></html>"""


async def use(tool: TeamTool, **arguments: Any) -> str:
    return await tool.tool.run(arguments)


async def test_a_corpus_is_searched_by_words_and_read_in_pieces(tmp_path: Path) -> None:
    (tmp_path / "bridges").mkdir()
    (tmp_path / "bridges" / "old.html").write_text(PAGE)
    (tmp_path / "long.txt").write_text(
        "\n\n".join(f"paragraph {n} about nothing" for n in range(800)) + "\n\nthe bridge fell"
    )
    (tmp_path / "café.md").write_text("Le café est fermé.")
    (tmp_path / "out.txt").symlink_to("/etc/passwd")
    (tmp_path / "archive.zip").write_bytes(b"PK")
    async with SandboxedPrograms(1) as programs:
        corpus = await Corpus.load(tmp_path, DocumentReader(programs))
    assert sorted(corpus.documents) == ["bridges/old.html", "café.md", "long.txt"]
    assert (
        corpus.documents["bridges/old.html"].text
        == "The bridge\n\nBuilt in 1883, see the tower (/tower.html).\n\n| part | span"
    )
    search, read = corpus.tools()
    found = await use(search, query="when was the bridge built")
    assert found.startswith("[bridges/old.html, paragraph 1, from 0]\nThe bridge")
    assert "the bridge fell" in found
    assert "café.md" in await use(search, query="café fermé")
    assert await use(search, query="zeppelin") == "nothing fits these words"
    first = await use(read, path="long.txt")
    assert first.endswith("read on with start 6000]")
    assert "did you mean bridges/old.html?" in await use(read, path="bridges/old.htm")
    with pytest.raises(ConfigError, match="is no folder"):
        await Corpus.load(tmp_path / "none", DocumentReader(programs))


async def test_a_page_that_would_take_minutes_to_parse_is_given_up_in_the_sandbox(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("heredity.team.tools.documents._SECONDS", 0.2)
    async with SandboxedPrograms(1) as programs:
        reader = DocumentReader(programs)
        with pytest.raises(UnreadableDocumentError, match=r"page\.html cannot be read: timeout"):
            await reader.text("page.html", b"<!" * 400_000)
        with pytest.raises(UnreadableDocumentError, match=r"end in \.exe cannot be read"):
            await reader.text("a.exe", b"MZ")


async def test_code_of_a_model_runs_in_the_sandbox() -> None:
    async with SandboxedPrograms(1) as programs:
        tool = python_tool(programs)
        assert await use(tool, code="x = 6\nprint('six', x)\nx * 7") == "six 6\n42"
        assert await use(tool, code="import math") == "(no output)"
        failed = await use(tool, code="1 / 0")
        assert "ZeroDivisionError" in failed
        for escape in ("open('/etc/passwd').read()", "import socket; socket.create_connection(('127.0.0.1', 80))"):
            assert "error" in await use(tool, code=escape)
        assert "SyntaxError" in await use(tool, code="def")


async def test_an_agent_asks_another_as_it_calls_a_tool() -> None:
    def model(request: Request) -> Reply | str:
        results = [m.content for m in request.messages if m.role == "tool"]
        if results:
            return " / ".join(results)
        return Reply(
            "",
            tuple(
                ToolCall(str(n), f"ask_{name}", json.dumps({"task": "x"})) for n, name in enumerate(("one", "broken"))
            ),
        )

    async def one(*_: object) -> dict[str, str]:
        return {"answer": "1"}

    async def broken(*_: object) -> None:
        raise OSError("no")

    async with Bus() as bus:
        bus.register(Participant("one", one))
        bus.register(Participant("broken", broken))
        lead = SubAgent(build(Candidate({})), Scripted(model), lambda c: [asking(n, "", c) for n in ("one", "broken")])
        bus.register(Participant("lead", lead))
        answer = await bus.outside.request("lead", {"task": "t"})
    assert answer.value["answer"] == "1 / error: broken did not answer (failed): OSError: no"
