"""What runs have beside submissions: outputs of training, and records of teams."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.pages.live.conftest import EVIL, site_of, write_run
from tests.pages.live.test_view_pages import text_of

from heredity.pages.live.pages.run import curves_in
from heredity.pages.live.pages.team import below
from heredity.records import Journal, RunFolder


def write_training(folder: Path) -> None:
    run = write_run(folder, "sft--s0")
    (run / "logs").mkdir()
    lines = [f"[{i:7.1f}s] sft step {10 * i}: loss {4 / i:.4f} on average {EVIL}" for i in range(1, 40)]
    (run / "logs" / "agent.log").write_text("\n".join(lines))


def write_team(folder: Path) -> Path:
    """Write a run of a team on two tasks, one with a record, one that names a folder outside."""
    from heredity.team.planning import Plan, State, Step

    run = write_run(folder, "team--s0")
    record = run / "teams" / "001"
    record.mkdir(parents=True)
    steps = (
        Step("find", "reader", f"Look for the mill {EVIL}", state=State.DONE),
        Step("check", "writer", "Check the year", after=("find",), state=State.FAILED),
    )
    (record / "plan.md").write_text(Plan("Who built the mill?", steps).to_markdown())
    journal = Journal.open(record / "journal.jsonl")

    def message(name: str, kind: str, sender: str, to: list[str], body: dict[str, object], **more: object) -> None:
        data = {"id": name, "kind": kind, "sender": sender, "to": to, "body": body, "session": "s", "task": "t"}
        journal.append(
            "team.message", {**data, "parent": "", "priority": 0, "timeout": 9.0, "outcome": "", "error": "", **more}
        )

    message("1", "task", "outside", ["planner"], {"task": "Who built the mill?"})
    message("1.round1.0", "task", "planner", ["reader"], {"task": f"Look {EVIL}", "step": "find"}, parent="1")
    value = f"The miller. http://127.0.0.1:9/mill {EVIL}"
    journal.append("team.effect", {"id": "1.round1.0#browser_open-0", "value": value})
    message("1.round1.0!", "result", "reader", ["planner"], {"value": "The miller"}, parent="1.round1.0", outcome="ok")
    journal.close()
    usage = {
        "model_calls": 4,
        "usage": None,
        "tokens": 321,
        "cost_usd": None,
        "seconds": 2.5,
        "cluster": "",
        "evolution": None,
    }
    with RunFolder.open(run) as opened:
        for place, (task, below_run) in enumerate((("mill", "teams/001"), ("secret", "../../../elsewhere")), 1):
            shown = {"rounds": 1, "steps": 2, "hops": 1, "tools": ["browse"], "agents": ["reader"], "lacking": []}
            answer = {"answer": f"The miller {EVIL}", "expected": "the miller", "correct": True, "why": "", "level": 1}
            named = {"task": task, "id": task, "status": "ok", "place": place, "folder": below_run}
            opened.journal.append("team.answered", {**named, **answer, **shown, **usage})
    return run


def test_what_trainers_print_becomes_curves() -> None:
    text = "\n".join(
        [
            "[    1.0s] sft step 10: loss 2.5000 on average",
            "[    2.0s] sft step 20: loss 1.25 on average",
            "loss is high today, 3 of 4",
            "grpo step 5: mean reward 0.1, 3 turns",
            "grpo step 6: mean reward nan, 3 turns",
            "sft step 10: loss 1.0 on average",
            "{'loss': 0.9, 'grad_norm': 2.1, 'epoch': 0.1}",
            "{'eval_loss': 1e-1, 'epoch': 0.2}",
            "Step #7 train/loss=0.5 accuracy: .75",
            "x" * 5000 + " step 1 loss 1",
        ]
    )
    assert curves_in(text) == {
        "loss": [(10, 2.5), (20, 1.25), (30, 1.0), (24, 0.9)],
        "mean reward": [(5, 0.1)],
        "eval loss": [(1, 0.1)],
        "train loss": [(7, 0.5)],
        "accuracy": [(7, 0.75)],
    }


async def test_a_run_shows_what_its_training_printed(tmp_path: Path) -> None:
    write_training(tmp_path / "s")
    async with site_of(tmp_path / "s") as site:
        page = await text_of(site, "/s/s/r/sft--s0")
        assert "Loss, from agent.log" in page
        assert "<script>document" not in page


async def test_a_task_of_a_team_shows_plan_rounds_hops_tools_and_sources(tmp_path: Path) -> None:
    write_team(tmp_path / "s")
    async with site_of(tmp_path / "s") as site:
        tasks = await text_of(site, "/s/s/r/team--s0/tasks")
        assert "Tasks 2" in tasks
        first, second = sorted({int(n) for n in re.findall(r"/t/(\d+)", tasks)})
        page = await text_of(site, f"/s/s/r/team--s0/t/{first}")
        for words in ("The plan: 2 steps", "step failed", "browser_open-0", "http://127.0.0.1:9/mill", "the miller"):
            assert words in page, words
        assert "planner to reader" in page
        for words in ("<script>document", "\u202e", "\u0007"):
            assert words not in page
        assert "not available" in await text_of(site, f"/s/s/r/team--s0/t/{second}")
        assert (await site.get("/s/s/r/team--s0/t/1")).status_code == 404


@pytest.mark.parametrize("named", ["", "/etc", "../x", "a/../../x", "linked", "linked/inner", "a\0b"])
def test_no_record_outside_of_a_run_is_opened(tmp_path: Path, named: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "linked").symlink_to(tmp_path)
    assert below(tmp_path / "run", named) is None
    assert below(tmp_path / "run", "teams/001") == tmp_path / "run" / "teams/001"
