from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from heredity.experiments.config import resolve
from heredity.experiments.suite import open_suite, run_suite
from heredity.launchers import available
from heredity.records import read_journal

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
    assert result.runs[0]["tokens"]["output_tokens"] == 7
