"""Outages: a run whose model does not answer is paused, and ends as if nothing had happened when the model is back."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.offering import Offer
from typer.testing import CliRunner

from heredity._core.errors import ProviderError
from heredity.agents.launchers import available
from heredity.cli.main import app
from heredity.experiments.config import resolve
from heredity.experiments.sealed import adopt_cases
from heredity.experiments.suite import SuiteResult, open_suite, run_suite
from heredity.models import Reply, Request
from heredity.models.gateway import resolve as model_named
from heredity.records import read_journal

ROWS = [
    {"question": f"A crate holds {n} apples and another one {n + 7}. How many are there?", "answer": str(2 * n + 7)}
    for n in range(40)
]


@dataclass
class Service:
    """Where models are; fails every call but the first `answers` while it is down."""

    kind: str = ""
    answers: int = 0
    failed: int = 0
    asked: list[str] = field(default_factory=list)

    def open_model(self, rest: str, settings: Any) -> Served:
        return Served(self, f"served/{rest}", model_named(f"offline/{rest}", settings))


@dataclass
class Served:
    service: Service
    name: str
    model: Any

    async def reply(self, request: Request) -> Reply:
        if self.service.kind and self.service.answers <= 0:
            self.service.failed += 1
            raise ProviderError(self.service.kind, f"{self.name} is down ({self.service.kind})", transient=False)
        self.service.answers -= 1
        self.service.asked.append(request.digest)
        return await self.model.reply(request)


@pytest.fixture
def service(offer: Offer) -> Service:
    made = Service()
    offer("heredity.models", "served", made.open_model)
    return made


def config(folder: Path, role: str) -> Any:
    (folder / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (folder / "agent" / "prompt" / "system").mkdir(parents=True, exist_ok=True)
    (folder / "agent" / "prompt" / "system" / "prompt.md").write_text("Answer the question.")
    models = {"execution": "offline/rule-follower", "optimisation": "offline/rule-inducer"}
    return resolve(
        {
            "run": {"protocol": "resource-evolution", "tasksets": [f"questions/file:{folder / 'q.jsonl'}"]},
            "evolver": {"method": "reflection", "initial": str(folder / "agent"), "options": {"batch": 4, "rounds": 2}},
            "budget": {"rollouts": 40, "train_cases": 8},
            "views": {"heldout": 6, "validation": 2},
            "gateway": {**models, role: models[role].replace("offline", "served"), "attempts": 1, "concurrent": 1},
            "suite": {"baselines": False},
        }
    )


def ran(folder: Path, chosen: Any = None) -> SuiteResult:
    return asyncio.run(run_suite(folder, open_suite(folder, chosen)))


def journal(folder: Path) -> list[Any]:
    """Return what is on record of the one run; nothing where it had not begun."""
    return [event for path in (folder / "runs").glob("*/journal.jsonl") for event in read_journal(path)]


@pytest.mark.parametrize("kind", ["connection", "server", "auth"])
@pytest.mark.parametrize("role", ["execution", "optimisation"])
@pytest.mark.parametrize("answers", [0, 2])
def test_a_run_whose_model_is_down_goes_on_when_it_is_back(
    tmp_path: Path, service: Service, role: str, kind: str, answers: int
) -> None:
    chosen = config(tmp_path, role)
    whole = ran(tmp_path / "runs" / "whole", chosen)
    assert not whole.failures
    calls = list(service.asked)

    service.asked.clear()
    service.kind, service.answers = kind, answers
    folder = tmp_path / "runs" / "paused"
    adopt_cases(folder, tmp_path / "runs" / "whole")
    paused = ran(folder, chosen)
    assert service.failed
    assert f"is down ({kind})" in next(iter(paused.failures.values()))
    assert not paused.runs or paused.runs[0].heldout is None
    kinds = [event.kind for event in journal(folder)]
    assert not {"run.finished", "session.closed", "evolver.failed"} & set(kinds)

    service.kind = ""
    resumed = ran(folder)
    assert not resumed.failures
    assert not resumed.evolver_failures
    kinds = [event.kind for event in journal(folder) if event.kind not in ("run.resumed", "heartbeat")]
    assert kinds == [event.kind for event in journal(tmp_path / "runs" / "whole") if event.kind != "heartbeat"]
    for key in ("decisions", "heldout", "reference", "gain", "selected", "model_usage"):
        assert getattr(resumed.runs[0], key) == getattr(whole.runs[0], key), key
    if role == "optimisation":
        assert service.asked == calls, "every request is made once, in the same order"


def test_resume_of_a_run_whose_model_is_still_down_says_who_is_missing_and_how_to_go_on(
    tmp_path: Path, service: Service
) -> None:
    folder, chosen = tmp_path / "runs" / "paused", config(tmp_path, "optimisation")
    service.kind = "connection"
    ran(folder, chosen)
    before = len(journal(folder))
    result = CliRunner().invoke(app, ["resume", str(folder)])
    assert result.exit_code == 1
    assert "served/rule-inducer is down (connection)" in result.stderr
    assert f"heredity resume {folder}" in result.stderr
    assert len(journal(folder)) == before + 1, "that it was resumed"


def test_an_outage_of_several_runs_is_told_once_with_the_suite_and_all_its_runs(
    tmp_path: Path, service: Service
) -> None:
    chosen = config(tmp_path, "execution")
    chosen = chosen.model_copy(update={"run": chosen.run.model_copy(update={"seeds": 3})})
    service.kind = "connection"
    folder = tmp_path / "runs" / "three"
    paused = ran(folder, chosen)
    assert (paused.metrics.suite_id, paused.metrics.finished, paused.metrics.runs) == ("three", 0, 3)
    result = CliRunner().invoke(app, ["resume", str(folder)])
    told = [line for line in result.stderr.splitlines() if "did not end" in line]
    assert len(told) == 1, result.stderr
    assert all(run in told[0] for run in paused.failures)
    assert "suite three · 0 of 3 runs finished" in result.stdout


AGENT = """
import json, os, subprocess, sys, urllib.request

headers = {"authorization": f"Bearer {os.environ['OPENAI_API_KEY']}", "content-type": "application/json"}
body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "What is to be done?"}]}).encode()
try:
    urllib.request.urlopen(urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers))
except urllib.error.HTTPError as error:
    sys.exit(f"the model failed: {error}")
subprocess.run(["heredity", "submit", "--episodes", "0-1"], check=True)
"""


@pytest.mark.skipif(available() is not None, reason=f"bubblewrap: {available()}")
def test_an_agent_without_its_model_is_started_again_when_that_is_back(tmp_path: Path, service: Service) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "agent.py").write_text(AGENT)
    agent = {"agent": f"python3 {tools}/agent.py", "read_only": [str(tools)], "model": "served/rule-follower"}
    chosen = resolve(
        {
            "run": {"tasksets": ["gymnasium/CartPole-v1"]},
            "evolver": agent,
            "budget": {"episodes": 8},
            "views": {"validation": 2, "heldout": 2},
            "gateway": {"attempts": 1},
            "engine": {"workers": 1},
            "suite": {"baselines": False},
        }
    )
    folder = tmp_path / "runs" / "agent"
    service.kind = "connection"
    paused = ran(folder, chosen)
    assert "without its model: served/rule-follower is down" in "".join(paused.failures.values()), (
        paused.evolver_failures
    )
    assert not {"agent.ended", "session.closed"} & {event.kind for event in journal(folder)}
    service.kind = ""
    resumed = ran(folder)
    assert not resumed.failures
    assert not resumed.evolver_failures
    kinds = [event.kind for event in journal(folder)]
    assert [kinds.count(kind) for kind in ("agent.started", "agent.ended", "submission.admitted")] == [2, 1, 1]
