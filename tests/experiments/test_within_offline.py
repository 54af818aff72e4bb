"""The suite `within-task-offline` as it is run, and a run that is killed at random instants."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from heredity._core.ids import generator
from heredity.cli.main import app
from heredity.engine.trajectory import decode_many
from heredity.experiments.config import suite_file
from heredity.library.models.reviser import plan_of
from heredity.protocols.within_task.programs import accounts_of
from heredity.records import BlobStore

pytestmark = pytest.mark.slow


def events_of(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("feedback", ["none", "self", "verdict"])
def test_four_optimizers_in_three_modes_do_what_is_planned(tmp_path: Path, feedback: str) -> None:
    pytest.importorskip("reasoning_gym", reason="needs the extra reasoning")
    suite = tmp_path / "suite.toml"
    everything = suite_file("within-task-offline").read_text()
    assert '["none", "self", "verdict"]' in everything
    suite.write_text(everything.replace('["none", "self", "verdict"]', f'["{feedback}"]'))
    ran = CliRunner().invoke(app, ["run", str(suite), "--out", str(tmp_path / "out")])
    assert ran.exit_code == 0, ran.output
    runs = sorted((tmp_path / "out" / "runs").iterdir())
    assert len(runs) == 12
    for run in runs:
        part = json.loads((run / "metrics.json").read_text())["part"]
        assert part["oracle"] == (feedback == "verdict")
        events, blobs = events_of(run), BlobStore(run / "blobs")
        made = {e["data"]["submit_id"]: e["data"]["blob"] for e in events if e["kind"] == "submission.completed"}
        for account in accounts_of(events):
            (first,) = decode_many(blobs.get(made[account.proposals[0]["submit_id"]]))
            plan = plan_of(str(list(first.columns["info/question"])[-1]))
            assert (account.first == 1.0) == plan.right_in(0)
            if feedback == "none":
                assert (account.final == 1.0) == plan.right_in(3), "the latest answer counts, also where it is worse"
            elif feedback == "verdict" or not plan.fooled:
                assert (account.final == 1.0) == (plan.round is not None)
            else:
                assert account.final != 1.0
                assert account.why == "solved"


def test_a_run_that_is_killed_at_random_instants_ends_as_one_that_is_not(tmp_path: Path) -> None:
    pytest.importorskip("reasoning_gym", reason="needs the extra reasoning")
    suite = tmp_path / "suite.toml"
    suite.write_text(
        '[run]\nprotocol = "within-task"\ntasksets = ["questions/reasoning-gym/gcd"]\n'
        '[evolver]\nmethod = "reinforce-pp"\n[within]\nmode = "both"\nfeedback = "self"\nmost_samples = 4\n'
        '[views]\nheldout = 12\n[gateway]\nexecution = "offline/reviser"\noptimisation = "offline/reviser"\n'
    )
    command = [sys.executable, "-m", "heredity", "run", str(suite), "--out", str(tmp_path / "killed")]
    rng, kills = generator(3, "kills"), 0
    for _ in range(60):
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        journal = next(iter((tmp_path / "killed").glob("runs/*/journal.jsonl")), None)
        size = journal.stat().st_size if journal else 0
        while process.poll() is None:
            journal = journal or next(iter((tmp_path / "killed").glob("runs/*/journal.jsonl")), None)
            if journal is not None and journal.stat().st_size > size:
                time.sleep(float(rng.uniform(0, 0.15)))
                os.killpg(process.pid, signal.SIGKILL)
                kills += process.wait() != 0
                break
            time.sleep(0.005)
        else:
            break
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    (run,) = (tmp_path / "killed" / "runs").iterdir()
    events = events_of(run)
    places = [
        (e["kind"], *(e["data"].get(k) for k in ("task", "round", "stage", "draw")))
        for e in events
        if e["kind"].startswith("within.")
    ]
    assert kills >= 5
    assert len(places) == len(set(places)), "nothing is journalled twice"
    admitted = [e["data"]["key"] for e in events if e["kind"] == "submission.admitted"]
    assert len({(e["data"]["submit_id"]) for e in events if e["kind"] == "submission.admitted"}) == len(admitted)
    accounts = accounts_of(events)
    assert len(accounts) == 12
    assert all(account.why and account.samples for account in accounts)
    part = json.loads((run / "metrics.json").read_text())["part"]
    assert [row["final"] for row in part["tasks"]] == [account.final for account in accounts]
