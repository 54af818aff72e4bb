"""Hidden items in the files of an agent are journalled, and the agent is not told."""

from __future__ import annotations

from pathlib import Path

import pytest

from heredity.agents.launchers import available
from heredity.kinds.checkpoint.tasks.overlap import HiddenTexts

from .tiny import SUBMIT, Rig

REASON = available()
pytestmark = pytest.mark.skipif(REASON is not None, reason=f"agents cannot be confined here: {REASON}")

HIDDEN = {"graded": ["12+3=", "4+5="], "heldout": ["77+8=", "prompt: a,"]}


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path, hidden=HiddenTexts(HIDDEN))


async def test_what_stands_in_an_agents_files_is_journalled_at_each_grading_and_at_the_end(rig: Rig) -> None:
    rig.save(a=0.5, b=0.75)
    write = 'echo \'{"prompt": "12+3="}\' > code/own.jsonl'
    await rig.train(SUBMIT + f"submit a; {write}; submit b; rm code/own.jsonl; mkdir x; echo 77+8=85 > x/late.txt")
    met = rig.events("texts.met")
    assert [event["views"] for event in met] == [
        {"graded": [], "heldout": []},
        {"graded": [0], "heldout": []},
        {"graded": [0], "heldout": [0]},
    ]
    assert met[-1]["sizes"] == {"graded": 2, "heldout": 2}
    assert met[-1]["files"] == ["code/own.jsonl", "x/late.txt"]
    assert "77+8" not in rig.log


async def test_what_the_host_gave_is_not_the_agents(rig: Rig) -> None:
    # The rows to train on hold such a row, which is hidden here.
    await rig.train("mkfifo code/pipe; ln -s /dev/zero code/zero; head -c 100 /dev/zero > code/w.bin; true")
    (met,) = rig.events("texts.met")
    assert met["views"] == {"graded": [], "heldout": []}
    assert met["unread"] == 1


async def test_what_was_met_before_a_kill_stays_met(rig: Rig, tmp_path: Path) -> None:
    from heredity.protocols.post_training.events import TextsMet
    from heredity.protocols.post_training.server.agent_run import TextWatch

    lines: list[TextsMet] = []

    async def note(line: object) -> None:
        lines.append(line[1])  # type: ignore[index]

    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "x.txt").write_text("4+5=")
    await TextWatch(tmp_path / "own", HiddenTexts(HIDDEN), (), note).look(1.0)
    (tmp_path / "own" / "x.txt").unlink()
    await TextWatch(tmp_path / "own", HiddenTexts(HIDDEN), (), note, list(lines)).look(2.0, last=True)
    assert [line["views"]["graded"] for line in lines] == [[1], [1]]
    assert [line["texts"] for line in lines] == [1, 0]
