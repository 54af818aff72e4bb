"""Whole runs of post-training with agents that are shell scripts in the sandbox, some of them hostile."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from heredity.agents.launchers import available, command
from heredity.kinds.checkpoint.models.checkpoint import inspect
from heredity.sandbox import watch

from .tiny import SUBMIT, Rig

REASON = available()
pytestmark = pytest.mark.skipif(REASON is not None, reason=f"agents cannot be confined here: {REASON}")


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


def kept(rig: Rig) -> list[str]:
    return sorted(path.name for path in (rig.run / "models").iterdir())


async def test_an_agent_trains_submits_and_is_judged_by_its_best_checkpoint(rig: Rig) -> None:
    rig.save(a=0.5, b=0.75, c=0.25)
    ended = await rig.train(SUBMIT + "echo 'print(1)' > code/train.py; submit a; submit b; submit c; exit 7")
    assert ended is not None
    assert (ended.code, ended.reason) == (7, "exited")
    assert [(e["code"], e["reason"]) for e in rig.events("agent.ended")] == [(7, "exited")]
    answers = [json.loads(line) for line in rig.log.splitlines()]
    assert [a["score"] for a in answers] == [50.0, 75.0, 25.0]
    assert rig.events("judging.selected")[0]["submit_id"] == 2
    assert kept(rig) == [inspect(rig.output / "b").digest]
    assert [e["files"] for e in rig.events("code.revised")] == [["train.py"]]
    assert [e["view"] for e in rig.events("baseline.scored")] == ["graded"]


async def test_the_variables_and_files_of_the_run_contract_are_there(rig: Rig) -> None:
    script = """
    for name in TASK BASE_MODEL WORKSPACE MODEL_PATH DATA_PATH OUTPUT_DIR; do eval echo "$name=\\$$name"; done
    pwd; ls "$MODEL_PATH" "$DATA_PATH"; cat run_meta.json scores.json > /dev/null && head -1 description.md
    test -s instructions.md && test -d code && test -d reports && test -s eval.py && echo laid out
    curl -s "$GRADING_SERVER_URL/health"; curl -s "$GRADING_SERVER_URL/time"
    """
    await rig.train(script)
    *lines, answers = rig.log.splitlines()
    assert lines[:7] == [
        "TASK=tiny",
        "BASE_MODEL=characters/tiny",
        "WORKSPACE=/workspace",
        "MODEL_PATH=/workspace/models/characters-tiny",
        "DATA_PATH=/workspace/data",
        "OUTPUT_DIR=/workspace/output",
        "/workspace",
    ]
    assert {"config.json", "model.safetensors", "tokenizer.json", "train.jsonl", "# Tiny", "laid out"} <= set(lines)
    health, end = json.JSONDecoder().raw_decode(answers)
    assert health == {"status": "ok", "task": "tiny", "total_submissions": 0}
    clock = json.loads(answers[end:])
    assert 0 < clock["remaining"] <= rig.seconds
    assert clock["meta"]["baseline_score"] == 25.0


async def test_what_an_agent_leaves_running_is_gone_when_its_time_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "KILL_AFTER_S", 0.3)
    rig = Rig(tmp_path, seconds=1.0)
    beat = "trap '' TERM INT HUP; while :; do date +%N > output/{0}; sleep 0.02; done"
    script = f"""
    trap '' TERM
    setsid sh -c "{beat.format("session")}" &
    (setsid sh -c "{beat.format("forked")}" & ) &
    nohup sh -c "{beat.format("hangup")}" > /dev/null 2>&1 &
    {beat.format("itself")}
    """
    ended = await rig.train(script)
    assert ended is not None
    assert (ended.code, ended.reason) == (137, "time_limit")
    assert 1.2 < ended.seconds < 6
    names = ("session", "forked", "hangup", "itself")
    before = [(rig.output / name).read_text() for name in names]
    await asyncio.sleep(0.2)
    assert [(rig.output / name).read_text() for name in names] == before


async def test_an_agent_that_is_asked_to_end_may_still_clean_up(tmp_path: Path) -> None:
    rig = Rig(tmp_path, seconds=0.6)
    ended = await rig.train("trap 'echo asked; exit 3' TERM; while :; do sleep 0.02; done")
    assert ended is not None
    assert (ended.code, rig.log.splitlines()[-1]) == (3, "asked")


async def test_what_was_submitted_in_time_is_graded_to_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("heredity._core.http"), "_STOP_S", 0)
    rig = Rig(tmp_path, seconds=0.9)
    rig.save(a=0.5, b=0.75)
    rig.runner.delay_s = 0.35
    await rig.train(SUBMIT + "submit a; submit b")
    assert [e["status"] for e in rig.events("submission.completed")] == ["ok"]
    assert [e["code"] for e in rig.events("agent.ended")] == [143]
    digest = inspect(rig.output / "a").digest
    assert kept(rig) == [digest]
    assert [e["digest"] for e in rig.events("checkpoint.kept")] == [digest]
    (answer,) = json.loads((rig.run / "workspace" / "scores.json").read_text())
    assert (answer["score"], answer["model_path"]) == (50.0, "/workspace/output/a")
    assert json.loads((rig.run / "workspace" / "run_meta.json").read_text())["end_time"] > 0
    assert len(rig.events("judging.scored")[0]["scores"]) == 3


async def test_what_the_host_gives_cannot_be_changed(rig: Rig) -> None:
    given = (
        "models/characters-tiny/config.json",
        "data/train.jsonl",
        "status/scores.json",
        "eval.py",
        "description.md",
    )
    tries = "\n".join(
        f"(echo forged > {name}) 2> /dev/null && echo CHANGED {name}; rm -rf {name} 2> /dev/null && echo REMOVED {name}"
        for name in given
    )
    moves = "mv data gone 2> /dev/null && echo MOVED; mv models gone 2> /dev/null && echo MOVED; "
    links = "rm scores.json run_meta.json; ln -s ../journal.jsonl scores.json; ln -s /etc/passwd run_meta.json; "
    rig.save(a=0.5)
    await rig.train(SUBMIT + tries + "\n" + moves + links + "submit a > /dev/null; echo end")
    assert rig.log == "end\n"
    assert "forged" not in (rig.run / "workspace" / "data" / "train.jsonl").read_text()
    assert [a["score"] for a in json.loads((rig.run / "workspace" / "status" / "scores.json").read_text())] == [50.0]
    assert [e["status"] for e in rig.events("submission.completed")] == ["ok"]


async def test_neither_records_nor_hidden_items_nor_the_host_can_be_read(tmp_path: Path) -> None:
    rig = Rig(tmp_path, seconds=300)  # a whole file system is looked through, on a cold disk perhaps
    other = rig.run.parent / "two" / "workspace" / "code"
    other.mkdir(parents=True)
    (other / "train.py").write_text("SECRET of another run")
    (rig.root / "host.txt").write_text("SECRET of the host")
    hidden_cases = rig.root / "sealed" / "suite"
    hidden = (other / "train.py", rig.root / "host.txt", rig.run / "journal.jsonl", hidden_cases, rig.run / "models")
    reads = "\n".join(f"cat {path} 2> /dev/null; ls {path} 2> /dev/null" for path in hidden)
    up = "cat ../*/journal.jsonl ../../two/workspace/code/train.py /proc/*/root/host.txt /proc/1/environ 2> /dev/null"
    await rig.train(
        f"{reads}\n{up}\nfind / -path /proc -prune -o -name '*.jsonl' -print -o -name host.txt -print 2> /dev/null; echo end"
    )
    assert any(hidden_cases.iterdir())
    log = rig.log
    assert log.endswith("/workspace/data/train.jsonl\nend\n")
    assert "SECRET" not in log
    assert "journal" not in log
    assert str(rig.root) not in log


async def test_only_the_grading_server_can_be_reached(rig: Rig) -> None:
    script = """
    for place in http://1.1.1.1 http://127.0.0.1:22 http://169.254.169.254; do
      curl -s -m 1 $place > /dev/null && echo REACHED $place
    done
    cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d ' '
    curl -s -o /dev/null -w '%{http_code}\\n' -X POST "$GRADING_SERVER_URL/set_baseline" -d '{"score": 0}'
    curl -s -o /dev/null -w '%{http_code}\\n' "$GRADING_SERVER_URL/feedback"
    """
    await rig.train(script)
    assert rig.log.split() == ["lo", "403", "404"]


async def test_an_agent_that_dies_is_on_record_and_what_it_submitted_counts(rig: Rig) -> None:
    rig.save(a=0.5)
    await rig.train(SUBMIT + "submit a > /dev/null; kill -9 $$")
    assert [(e["code"], e["reason"]) for e in rig.events("agent.ended")] == [(137, "exited")]
    assert rig.events("judging.selected")[0]["submit_id"] == 1


GREEDY = {
    "memory_limit": """python3 -c "held = b'x' * (400 << 20); import time; time.sleep(60)" """,
    "disk_limit": "while :; do head -c 4000000 /dev/zero > output/$((i += 1)); sleep 0.02; done",
}


@pytest.mark.parametrize("reason", GREEDY)
async def test_an_agent_that_takes_too_much_is_ended_and_what_it_submitted_counts(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    monkeypatch.setattr(watch, "DISK_S", 0.1)
    rig.save(a=0.5)
    bounds = {"memory_bytes": 200 << 20, "disk_bytes": 60 << 20}
    ended = await rig.train(SUBMIT + f"submit a; echo 1 > code/train.py; {GREEDY[reason]}", **bounds)
    assert ended is not None
    assert ended.reason == reason
    (event,) = rig.events("agent.ended")
    assert event["reason"] == reason
    kind = reason.replace("limit", "bytes")
    assert event[kind] > bounds[kind]
    assert rig.events("judging.selected")[0]["submit_id"] == 1
    assert rig.events("judging.scored")[0]["scores"] == [0.5, 0.5, 0.5]
    assert [e["files"] for e in rig.events("code.revised")] == [["train.py"]]
    assert await rig.train("echo again") is None, "it is not started again"


async def test_many_checkpoints_take_the_room_of_two(rig: Rig) -> None:
    names = "abcdefgh"
    rig.save(**{name: 0.1 * index for index, name in enumerate(names)})
    held: list[int] = []
    grade = rig.runner.run

    async def look(*given: Any) -> AsyncIterator[Any]:
        held.append(len(kept(rig)))
        async for graded in grade(*given):
            yield graded

    rig.runner.run = look  # type: ignore[method-assign]
    await rig.train(SUBMIT + "for name in a b c d e f g h; do submit $name & done; wait")
    assert len(held) >= len(names)
    assert max(held) <= 2
    assert len(kept(rig)) == 1


async def test_a_run_without_a_graded_checkpoint_is_finished_all_the_same(rig: Rig) -> None:
    await rig.train("exit 1")
    assert rig.events("judging.selected")[0]["candidate"] is None
    assert [e["status"] for e in rig.events("run.finished")] == ["finished"]


async def test_the_variables_of_the_host_are_not_inherited(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOST_TOKEN", "SECRET")
    monkeypatch.setenv("NAMED", "handed on")
    await rig.train("env", inherit=("NAMED",))
    assert "SECRET" not in rig.log
    assert "NAMED=handed on" in rig.log.splitlines()
