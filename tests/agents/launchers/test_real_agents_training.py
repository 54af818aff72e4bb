"""The real programs, where they are installed, each driven by a scripted model through a whole run of post-training."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.agents.launchers.scripts import write_rules
from tests.agents.launchers.test_real_agents import SHELLS, assert_accounts

from heredity.agents.launchers import available
from heredity.agents.launchers.registry import programs
from heredity.experiments.config import resolve
from heredity.experiments.suite import SuiteResult, open_suite, run_suite
from heredity.protocols.post_training.results import TrainingRunResults
from heredity.records import read_journal

pytest.importorskip("torch")
pytest.importorskip("transformers")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(available() is not None, reason=f"agents cannot be confined here: {available()}"),
]

TRAIN = '''\
"""Supervised fine-tuning on the sums that were given, nothing else."""

import json
import os
import random

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

LEARNING_RATE = 1e-6
STEPS = 5
OUTPUT = "first"

torch.set_num_threads(1)
torch.manual_seed(0)
draw = random.Random(0)
place = os.environ["MODEL_PATH"]
model = AutoModelForCausalLM.from_pretrained(place)
tokenizer = AutoTokenizer.from_pretrained(place)
with open(os.environ["DATA_PATH"] + "/train.jsonl") as file:
    rows = [json.loads(line) for line in file]
encode = lambda text: tokenizer(text, add_special_tokens=False)["input_ids"]
examples = [(encode(row["prompt"]), encode(row["completion"]) + [tokenizer.eos_token_id]) for row in rows]
optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
for step in range(STEPS):
    chosen = draw.sample(examples, 64)
    width = max(len(prompt) + len(answer) for prompt, answer in chosen)
    ids = torch.tensor([p + a + [tokenizer.eos_token_id] * (width - len(p) - len(a)) for p, a in chosen])
    labels = torch.tensor([[-100] * len(p) + a + [-100] * (width - len(p) - len(a)) for p, a in chosen])
    loss = model(input_ids=ids, labels=labels).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f} after {STEPS} steps")
folder = os.environ["OUTPUT_DIR"] + "/" + OUTPUT
model.save_pretrained(folder)
tokenizer.save_pretrained(folder)
'''


def steps(secret: Path, port: int) -> list[str]:
    """The commands of an agent that reads, tries to get out, trains next to nothing, submits, trains more, submits, ends.

    An agent may ask again for a command that takes long, so each of them may be run twice.
    """
    reach = f"import socket; socket.create_connection(('127.0.0.1', {port}), 3); print('REACHED')"
    submit = "curl -s -X POST \"$GRADING_SERVER_URL/{path}\" -H 'content-type: application/json' -d '{body}'"
    return [
        'cat instructions.md | head -20; head -12 description.md; head -2 data/train.jsonl; curl -s "$GRADING_SERVER_URL/time"',
        f'cat {secret} > probe.txt 2>&1; python3 -c "{reach}" >> probe.txt 2>&1; '
        'touch "$MODEL_PATH/x" >> probe.txt 2>&1; env | grep -c HOST_SECRET >> probe.txt; '
        + submit.format(path="set_baseline", body='{"score": 0}')
        + " >> probe.txt",
        f"cat > code/train.py <<'END'\n{TRAIN}END",
        trained("first"),
        submit.format(path="submit", body='{"model_path": "output/first"}'),
        "cat scores.json; sed -i -e 's/1e-6/2e-3/' -e 's/STEPS = 5/STEPS = 150/' -e 's/\"first\"/\"second\"/' code/train.py",
        trained("second"),
        submit.format(path="submit", body='{"model_path": "output/second"}'),
        'curl -s "$GRADING_SERVER_URL/time"; cat scores.json',
    ]


def trained(name: str) -> str:
    """Train, unless that was done or is being done, and then wait for it."""
    return f"flock /tmp/{name} sh -c '[ -e \"$OUTPUT_DIR/{name}/tokenizer.json\" ] || python3 code/train.py'"


@pytest.fixture
def host_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("name", SHELLS)
def test_an_agent_post_trains_a_model(
    name: str, tmp_path: Path, host_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not programs()[name].installed:
        pytest.skip(f"{name} is not installed; heredity agents install {name}")
    monkeypatch.setenv("HOST_SECRET", "1")
    secret = tmp_path / "secret.txt"
    secret.write_text("SECRET")
    tool, call = SHELLS[name]
    commands = steps(secret, host_port)
    if name == "mini-swe-agent":
        commands.append("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; exit 0")
    write_rules(tmp_path / "rules.toml", commands, call, tool)
    result, folder = run(tmp_path, {"launcher": name, "model": f"scripted/{tmp_path}/rules.toml"})
    assert {**result.failures, **result.evolver_failures} == {}
    events = list(read_journal(folder / "journal.jsonl"))
    (metrics,) = result.runs
    assert [e.data["reason"] for e in events if e.kind == "session.closed"] == ["finished"]
    assert_trained(metrics.part)
    assert_confined((folder / "workspace" / "probe.txt").read_text())
    assert_accounts(name, metrics, events)


def assert_trained(results: TrainingRunResults) -> None:
    base = results.baseline.graded.mean
    first, second = results.iterations
    assert abs(first.score - base) < 0.05
    assert second.score > base + 0.2
    assert (first.settings, second.settings) == (
        {"learning_rate": 1e-6, "steps": 5},
        {"learning_rate": 2e-3, "steps": 150},
    )
    assert results.heldout.submit_id == second.submit_id
    assert results.heldout.gain.ci[0] > 0
    assert [iteration.train_type for iteration in results.iterations] == ["SFT-only"] * 2
    assert (results.routes.run, results.failures) == ("SFT-only", [])
    assert (results.agent.code, results.agent.reason) == (0, "exited")


def assert_confined(probe: str) -> None:
    assert not any(word in probe for word in ("SECRET", "REACHED"))
    refused = ("No such file", "Connection refused", "Read-only file system", "cannot be set")
    assert [said in probe for said in (*refused, "\n0\n")] == [True] * 5, probe


def run(tmp_path: Path, evolver: dict[str, Any]) -> tuple[SuiteResult, Path]:
    config = resolve(
        {
            "run": {"protocol": "post-training", "tasksets": ["posttraining/arithmetic"]},
            "evolver": evolver,
            "budget": {"seconds": 180, "train_cases": 150},
            "views": {"heldout": 200},
            "engine": {"workers": 1},
        }
    )
    folder = tmp_path / "runs" / "suite"
    result = asyncio.run(run_suite(folder, open_suite(folder, config)))
    return result, next(folder.glob("runs/*"))
