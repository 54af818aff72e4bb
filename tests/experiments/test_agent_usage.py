from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError
from heredity.agents.launchers import available
from heredity.analysis.usage import TokenUsage
from heredity.experiments import outside_agents
from heredity.experiments.config import resolve
from heredity.experiments.suite import open_suite, run_suite
from heredity.records import Journal, read_journal

AGENT = """
import json, subprocess
print(json.dumps({"type": "thread.started", "thread_id": "t"}))
print(json.dumps({"type": "turn.completed", "usage": {"input_tokens": 100, "cached_input_tokens": 40, "output_tokens": 7}}))
subprocess.run(["heredity", "submit", "--episodes", "0-1"], check=True)
"""


@pytest.mark.skipif(available() is not None, reason=f"bubblewrap: {available()}")
def test_the_tokens_that_an_agent_reports_are_journalled_and_summed(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "agent.py").write_text(AGENT)
    config = resolve(
        {
            "run": {"tasksets": ["gymnasium/CartPole-v1"]},
            "evolver": {"agent": f"python3 {tools}/agent.py", "read_only": [str(tools)]},
            "budget": {"episodes": 2},
            "views": {"validation": 2, "heldout": 2},
            "engine": {"workers": 1},
        }
    )
    folder = tmp_path / "runs" / "suite"
    result = asyncio.run(run_suite(folder, open_suite(folder, config)))
    (journal,) = folder.glob("runs/*/journal.jsonl")
    (usage,) = [e.data for e in read_journal(journal) if e.kind == "agent.usage"]
    assert usage == {
        "source": "codex", "input_tokens": 60, "cache_tokens": 40, "output_tokens": 7, "cost_usd": None,
    }  # fmt: skip
    assert result.runs[0].tokens.output_tokens == 7
    assert result.runs[0].agent_accounts is None


ASKING = """
import json, os, urllib.request
said = [{"role": "user", "content": "one two three"}]
key = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
body = json.dumps({"model": os.environ["HEREDITY_MODEL"], "messages": said}).encode()
print(urllib.request.urlopen(urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, key)).read())
print(json.dumps({"type": "turn.completed", "usage": {"input_tokens": 5, "cached_input_tokens": 0, "output_tokens": 4}}))
"""
RULES = '[[rule]]\nreply = "four five six seven"\n'


def asking(tmp_path: Path) -> dict[str, Any]:
    """A run whose agent is a folder that asks its model once and says that it used more than it did."""
    folder = tmp_path / "asker"
    folder.mkdir()
    (folder / "ask.py").write_text(ASKING)
    (folder / "start.sh").write_text('python3 "$(dirname "$0")/ask.py" || exit 1\nheredity submit --episodes 0-1\n')
    (tmp_path / "rules.toml").write_text(RULES)
    return {
        "run": {"tasksets": ["gymnasium/CartPole-v1"]},
        "evolver": {"launcher": str(folder)},
        "budget": {"episodes": 2, "tokens": 20},
        "views": {"validation": 1, "heldout": 1},
        "gateway": {"execution": f"scripted/{tmp_path}/rules.toml"},
        "engine": {"workers": 1},
    }


@pytest.mark.skipif(available() is not None, reason=f"bubblewrap: {available()}")
def test_what_an_agent_says_is_set_beside_what_the_broker_counted(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "suite"
    result = asyncio.run(run_suite(folder, open_suite(folder, resolve(asking(tmp_path)))))
    (metrics,) = result.runs
    log = next(folder.glob("runs/*/logs/agent.log")).read_text()
    assert "four five six seven" in log
    assert metrics.tokens.model_dump() == {"input_tokens": 3, "cache_tokens": 0, "output_tokens": 4, "cost_usd": 0.0}
    assert metrics.agent_accounts.difference.model_dump() == {"input_tokens": 2, "cache_tokens": 0, "output_tokens": 0}
    page = next(folder.glob("runs/*/report.html")).read_text()
    assert "differs from the broker&#39;s: +2 input" in page
    journal = read_journal(next(folder.glob("runs/*/journal.jsonl")))
    (started,) = [e.data["evolver"] for e in journal if e.kind == "run.started"]
    assert (started["name"], started["model"]) == ("asker", f"scripted/{tmp_path}/rules.toml")


@pytest.mark.skipif(available() is not None, reason=f"bubblewrap: {available()}")
def test_a_budget_of_tokens_counts_what_was_used_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside_agents, "_earlier_usage", lambda journal: [TokenUsage(12, 4, 4, None)])
    folder = tmp_path / "runs" / "suite"
    asyncio.run(run_suite(folder, open_suite(folder, resolve(asking(tmp_path)))))
    log = next(folder.glob("runs/*/logs/agent.log")).read_text()
    assert "429" in log


def test_what_was_used_before_is_read_from_the_journal(tmp_path: Path) -> None:
    entry = {"input_tokens": 5, "cache_tokens": None, "output_tokens": 1, "cost_usd": None}
    journal = Journal.open(tmp_path / "journal.jsonl")
    for source in ("broker", "codex"):
        journal.append("agent.usage", {"source": source, **entry})
    journal.close()
    assert outside_agents._earlier_usage(tmp_path / "journal.jsonl") == [TokenUsage(5, None, 1, None)]


def test_an_agent_without_a_model_is_told_how_to_give_it_one(tmp_path: Path) -> None:
    config = asking(tmp_path)
    config |= {"gateway": {}, "evolver": {"launcher": "codex"}}
    folder = tmp_path / "runs" / "suite"
    with pytest.raises(ConfigError, match=r"codex has no model: set evolver\.model"):
        asyncio.run(run_suite(folder, open_suite(folder, resolve(config))))
