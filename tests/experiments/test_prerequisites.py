"""What a suite lacks here is said at once, before anything is started, each with what mends it."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.offering import Offer
from typer.testing import CliRunner

from heredity._core.errors import ConfigError
from heredity.cli.main import app
from heredity.experiments import preflight as module
from heredity.experiments.config import resolve
from heredity.experiments.preflight import PreflightError, preflight, require
from heredity.sandbox.gpus import GpuMachine


def configured(**sections: Any) -> dict[str, Any]:
    return {
        "run": {"tasksets": ["gymnasium/CartPole-v1"]},
        "budget": {"episodes": 8},
        "suite": {"baselines": False},
        **sections,
    }


def missing(data: dict[str, Any], folder: Path) -> dict[str, str]:
    """Return what is missing: name to remedy, or else to what was found."""
    machine = GpuMachine(listed=folder / "no-gpus")
    checks = preflight(resolve(data), folder / "runs" / "suite", machine)
    return {check.name: check.remedy or check.detail for check in checks if not check.ok}


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without optional packages, keys and coding agents."""
    gone = ("pydantic_ai", "openai", "anthropic", "torch", "transformers", "gepa", "minigrid")
    for name in gone:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(module, "_is_installed", lambda name: name.split(".")[0] not in gone)  # pyright: ignore[reportUnknownLambdaType]
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HEREDITY_AGENTS", str(tmp_path / "agents"))


def test_everything_that_a_coding_agent_lacks_is_listed_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "available", lambda: "bubblewrap is not installed; install bubblewrap")
    agent = {"launcher": "codex", "model": "anthropic/claude-sonnet-4-5", "read_only": [str(tmp_path / "none")]}
    found = missing(configured(evolver={**agent, "devices": ["/dev/none"], "inherit": ["NO_SUCH_KEY"]}), tmp_path)
    assert "heredity agents install codex" in found["agent codex"]
    assert found["key of anthropic"] == "export ANTHROPIC_API_KEY=…"
    assert found["model anthropic/claude-sonnet-4-5: extra llm"] == "pip install 'heredity[llm]'"
    assert found["bubblewrap"] == "install bubblewrap"
    assert found[f"evolver.read_only {tmp_path}/none"] == "create it, or correct evolver.read_only"
    assert {f"evolver.read_only {tmp_path}/none", "evolver.devices /dev/none", "variable NO_SUCH_KEY"} <= set(found)


def test_every_taskset_that_is_not_there_is_named(tmp_path: Path) -> None:
    names = ["gymnasium/CartPole-v1", "gymnasium/MiniGrid-FourRooms-v0", "gymnasium/CartPoll-v1"]
    found = missing(configured(run={"tasksets": names}), tmp_path)
    assert found["taskset gymnasium/MiniGrid-FourRooms-v0"] == "pip install 'heredity[minigrid]'"
    assert "did you mean" in found["taskset gymnasium/CartPoll-v1"]
    assert len(found) == 2


def test_gpus_and_extras_of_post_training_are_listed(tmp_path: Path) -> None:
    training = {
        "run": {"protocol": "post-training", "tasksets": ["posttraining/arithmetic"]},
        "evolver": {"agent": "true"},
        "budget": {"seconds": 60},
        "training": {"gpus": 2},
        "suite": {"baselines": False},
    }
    found = missing(training, tmp_path)
    assert found["kind of task model: extra posttrain"] == "pip install 'heredity[posttrain]'"
    assert "GPUs" in found


def test_an_entry_point_that_does_not_load_is_one_of_them(tmp_path: Path, offer: Offer) -> None:
    offer("heredity.methods", "broken", "no_such_module_anywhere:Method")
    found = missing(configured(evolver={"method": "broken"}), tmp_path)
    assert "no_such_module_anywhere" in found["method broken"]


def test_nothing_is_started_and_the_command_says_all(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        '[run]\ntasksets = ["gymnasium/CartPole-v1"]\n[evolver]\nlauncher = "codex"\nmodel = "openai/gpt-5"\n'
        'inherit = ["NO_SUCH_KEY"]\n[budget]\nepisodes = 4\n'
    )
    folder = tmp_path / "runs"
    ended = CliRunner().invoke(app, ["run", str(file), "--folder", str(folder), "--json"])
    assert ended.exit_code == 2
    lines = json.loads(ended.stdout)["missing"]
    assert len(lines) >= 4
    assert all(line in ended.stderr for line in lines)
    assert not folder.exists()
    shown = CliRunner().invoke(app, ["doctor", "--for", str(file)])
    assert shown.exit_code == 1
    assert "export OPENAI_API_KEY=…" in shown.stdout


LOOKING = """
import subprocess, sys
from pathlib import Path
from heredity.experiments.config import load
from heredity.experiments.preflight import preflight
from heredity.experiments.config import suite_file

started, begin = [], subprocess.Popen.__init__
def counting(self, *arguments, **named):
    started.append(arguments)
    begin(self, *arguments, **named)
subprocess.Popen.__init__ = counting
for name in ("demo", "harness-offline", "questions-offline", "posttrain-cpu"):
    preflight(load(suite_file(name)), Path(sys.argv[1]) / "runs" / name)
heavy = {"torch", "transformers", "gepa", "openai", "anthropic", "pydantic_ai", "mcp", "playwright", "mujoco"}
print(len(started), sorted(heavy & {name.partition(".")[0] for name in sys.modules}))
"""


def test_a_preflight_takes_little_it_imports_no_extra_and_starts_what_tries_the_sandbox_alone(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LOOKING, tmp_path], capture_output=True, text=True, check=True)
    processes, _, imported = done.stdout.partition(" ")
    assert imported == "[]\n"
    # One that tries isolation for each suite, and one that tries bubblewrap for those that need it.
    assert int(processes) <= 8
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("purpose", ["policy", "worlds"])
def test_what_is_shipped_to_begin_with_lacks_nothing_here(purpose: str) -> None:
    ended = CliRunner().invoke(app, ["doctor", "--for", purpose, "--json"])
    found = [check["name"] for check in json.loads(ended.stdout)["checks"] if check["needed"] and not check["ok"]]
    assert found == []


def test_a_suite_that_lacks_nothing_may_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A method of this process needs no bubblewrap, an agent from outside does.
    monkeypatch.setattr(module, "available", lambda: "bubblewrap is not installed; install bubblewrap")
    require(resolve(configured()), tmp_path)
    with pytest.raises(PreflightError, match=r"^bubblewrap: bubblewrap is not installed; install bubblewrap$"):
        require(resolve(configured(evolver={"agent": "true"})), tmp_path)
    monkeypatch.setattr(module, "available", lambda: None)
    with pytest.raises(PreflightError, match=r"^variable NO_SUCH_KEY: .*; export NO_SUCH_KEY=…$"):
        require(resolve(configured(evolver={"agent": "true", "inherit": ["NO_SUCH_KEY"]})), tmp_path)


class Refusing(BaseHTTPRequestHandler):
    """Lists its models to whoever has the key."""

    def do_GET(self) -> None:
        self.send_response(200 if self.headers["Authorization"] == "Bearer right" else 401)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def test_servers_of_models_are_asked_before_anything_starts_and_told_apart_by_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as freed:
        down = freed.getsockname()[1]
    monkeypatch.setattr(module, "_is_installed", lambda name: True)  # pyright: ignore[reportUnknownLambdaType]
    monkeypatch.setenv("RIGHT_KEY", "right")
    monkeypatch.setenv("WRONG_KEY", "wrong")
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        up = f"http://127.0.0.1:{server.server_port}/v1"
        providers = {
            "up": {"base_url": up, "api_key_env": "RIGHT_KEY"},
            "shut": {"base_url": up, "api_key_env": "WRONG_KEY"},
            "down": {"base_url": f"http://127.0.0.1:{down}/v1"},
            "far": {"base_url": "http://host.invalid/v1"},
        }
        names = {"execution": "down/m", "optimisation": "shut/m", "judge": "far/m"}
        routes = {"both": {"models": ["down/m", "up/m"]}}
        try:
            asked = {
                "run": {"protocol": "resource-evolution", "tasksets": ["questions/reasoning-gym/gcd"]},
                "evolver": {"method": "reflection"},
            }
            configs = [
                resolve(configured(**asked, gateway={**named, "providers": providers, "routes": routes}))
                for named in (names, {"execution": "both", "optimisation": "both"})
            ]
            with pytest.raises(PreflightError) as refused:
                require(configs[0], tmp_path / "runs" / "suite")
            require(configs[1], tmp_path / "runs" / "suite")
        finally:
            server.shutdown()
    lines = dict(line.split(": ", 1) for line in refused.value.lines)
    assert "connection refused" in lines["endpoint of down/m"]
    assert "the name of its host cannot be resolved" in lines["endpoint of far/m"]
    assert "refuses the key (HTTP 401); correct the key in WRONG_KEY" in lines["endpoint of shut/m"]


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("localhost:8000/v1", "http://localhost:8000/v1"),
        ("http:/x", "begins with http:// or https://"),
        ("http://h:99999/v1", "begins with http:// or https://"),
        ("http://h/v1/chat/completions", "leave out /chat/completions, which is added for each call: http://h/v1"),
        ("http://me:hunter2@h/v1", "api_key_env"),
        ("http://h/v1?api_key=hunter2", "api_key_env"),
    ],
)
def test_an_address_of_an_api_that_cannot_be_right_is_refused_at_once(address: str, says: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(says)) as refused:
        resolve(configured(gateway={"providers": {"lab": {"base_url": address}}}))
    assert "hunter2" not in str(refused.value)
