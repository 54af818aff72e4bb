from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openai
import pytest
from typer.testing import CliRunner

from heredity.cli.broker import broker, usage_table
from heredity.models import Usage
from heredity.models.broker import Account, CallRecord, Ledger

RULES = '[[rule]]\nreply = "It is scripted."\n'
CODE = "import typer; from heredity.cli.broker import broker; typer.run(broker)"


@contextmanager
def running(folder: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    (folder / "rules.toml").write_text(RULES)
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, "--model", "scripted/rules.toml", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=os.environ | {"OPENAI_API_KEY": "sk-of-the-host"},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def ask(url: str, key: str, **options: Any) -> str | None:
    client = openai.OpenAI(base_url=url, api_key=key, **options)
    answer = client.chat.completions.create(model="any", messages=[{"role": "user", "content": "?"}])
    return answer.choices[0].message.content


@pytest.mark.slow
def test_a_broker_of_the_command_line_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    with running(tmp_path, "--json", "--calls", "2", "--socket", "b.sock") as process:
        assert process.stdout is not None
        announced = json.loads(process.stdout.readline())
        variables = announced["environment"]
        for _ in range(2):
            assert ask(variables["OPENAI_BASE_URL"], variables["OPENAI_API_KEY"]) == "It is scripted."
        with pytest.raises(openai.RateLimitError, match="budget of 2 calls"):
            ask(f"{announced['url']}/t/{announced['token']}/v1", "none")
        assert (tmp_path / "b.sock").is_socket()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")
    used = json.loads(out)
    assert (used["calls"], used["refused"], used["usage"]["cost_usd"]) == (2, 1, 0)
    assert "sk-of-the-host" not in json.dumps(announced)
    assert not (tmp_path / "b.sock").exists()


@pytest.mark.slow
def test_its_text_can_be_pasted_into_a_shell(tmp_path: Path) -> None:
    with running(tmp_path) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(10)]
        exported = dict(line.removeprefix("export ").strip().split("=", 1) for line in lines if "export" in line)
        vendors = ("OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY")
        assert set(exported) == {*vendors, "GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY"}
        assert ask(exported["OPENAI_BASE_URL"], exported["OPENAI_API_KEY"]) == "It is scripted."
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=20)
    assert "refused: 0" in out


def test_wrong_options_are_errors_before_anything_is_served(tmp_path: Path) -> None:
    import typer

    app = typer.Typer()
    app.command()(broker)
    config = tmp_path / "c.toml"
    config.write_text("[gateway]\nattemps = 3\n")
    for options, said in (
        (["--model", "nothing/here"], "unknown model"),
        (["--model", "scripted/missing.toml", "--tokens", "-1"], ""),
        (["--model", "nothing/here", "--config", str(config)], "attempts"),
    ):
        result = CliRunner().invoke(app, options)
        assert result.exit_code != 0
        assert said in str(result.exception)


def test_the_table_marks_sums_that_lack_what_is_unknown() -> None:
    ledger = Ledger(Account("run"))
    for usage in (Usage(10, 2, 0, 0.5), Usage(10, 2)):
        ledger.settle(CallRecord("run", "messages", "m", "m", "", "answered", usage, 0, time.monotonic(), False))
    lines = usage_table(ledger.to_json()).splitlines()
    assert [line.split() for line in lines] == [
        ["model", "calls", "failed", "abandoned", "input", "output", "USD"],
        ["m", "2", "0", "0", "20", "4", "0.5+?"],
        ["total", "2", "0", "0", "20", "4", "0.5+?"],
        ["refused:", "0"],
    ]
