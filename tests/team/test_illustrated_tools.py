"""Tools that show pictures: the model sees them after the results of its calls, and sees them again after a kill."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import HostError
from heredity.engine.actor import ProvidedTool
from heredity.engine.solver import build
from heredity.models import Image, Reply, Request, ToolCall, ToolSpec
from heredity.models.scripted import Scripted
from heredity.resources import Candidate, SourceTree
from heredity.team import Bus, Context, Participant
from heredity.team.agent import SubAgent, TeamTool, Traced
from heredity.team.record import open_record

PICTURE = ("image/png", b"\x89PNG picture")


async def asked(folder: Path, *, stop: bool = False) -> tuple[list[Request], list[Any]]:
    """Let an agent look once and answer; returns what its model was asked and what the tool was told on being recalled."""
    requests: list[Request] = []
    recalled: list[Any] = []

    def reply(request: Request) -> Reply | str:
        requests.append(request)
        if len(request.messages) <= 2:
            call = ToolCall("c1", "look", "{}")
            return Reply("", tool_calls=(call,))
        if stop:
            raise HostError("the provider is gone")
        return "seen"

    def tools(context: Context) -> list[TeamTool]:
        async def look(_: Any) -> str:
            trace = {"picture": await context.keep(PICTURE[1]), "shown": PICTURE[0]}
            return Traced("its picture follows", trace, [PICTURE])

        return [TeamTool(ProvidedTool(ToolSpec("look", "looks", {"type": "object"}), look), recalled=recalled.append)]

    agent = SubAgent(build(Candidate({"prompt/system": SourceTree({"prompt.md": b"Look."})})), Scripted(reply), tools)
    with open_record(folder) as record:
        async with Bus(record) as bus:
            bus.register(Participant("a", agent))
            result = await bus.outside.request("a", {"task": "what is there?"}, key="t")
            assert result.ok, result.error
            assert result.value["answer"] == "seen"
    return requests, recalled


async def test_a_model_is_shown_what_a_tool_shows(tmp_path: Path) -> None:
    requests, recalled = await asked(tmp_path)
    told, shown = requests[-1].messages[-2:]
    assert (told.role, told.content, told.images) == ("tool", "its picture follows", ())
    assert (shown.role, shown.images) == ("user", (Image(*PICTURE),))
    assert recalled == []


async def test_a_picture_is_shown_again_from_what_was_kept(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="the provider is gone"):
        await asked(tmp_path, stop=True)
    requests, recalled = await asked(tmp_path)
    # The first reply and the look are on record; the picture comes from beside it.
    assert len(requests) == 1
    assert requests[0].messages[-1].images == (Image(*PICTURE),)
    assert recalled[0]["shown"] == PICTURE[0]
