from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from tests.agents.fakes import FakeSession, make_terms, program

from heredity import library
from heredity._core.errors import ConfigError, IsolationError
from heredity.agents import Workspace, evolve_with_agent
from heredity.agents.launchers import AgentExit, CommandAgent, available, command
from heredity.protocols.policy_evolution.protocol import BRIEFING
from heredity.resources import Candidate
from heredity.sandbox.bubblewrap_root import agents_folder

EXAMPLES = Path(library.__path__[0]) / "agents"
REASON = available()
confined = pytest.mark.skipif(REASON is not None, reason=f"agents cannot be confined here: {REASON}")
either = pytest.mark.parametrize("unsafe", [pytest.param(False, marks=confined), True], ids=["confined", "unsafe"])


class Run:
    """A run whose session is a fake, and whose agent is real."""

    def __init__(self, folder: Path, session: FakeSession | None = None) -> None:
        self.folder = folder
        self.session = session or FakeSession(make_terms())
        self.workspace = Workspace(folder / "workspace", self.session.terms, BRIEFING)

    async def agent(self, script: str | list[str], **options: object) -> AgentExit:
        agent = CommandAgent(script, **options)  # type: ignore[arg-type]
        return await evolve_with_agent(
            self.session, self.workspace, agent, initial=Candidate.program(program(1.0)), logs=self.folder
        )

    @property
    def log(self) -> str:
        return (self.folder / "agent.log").read_text()


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path / "run")


@either
async def test_an_agent_submits_by_every_door(run: Run, unsafe: bool) -> None:
    script = """
    heredity submit --episodes 0-1 && submit program --episodes 0:2 &&
    curl -s -f -X POST "$EVOPOLICYGYM_SUBMIT_URL" -d '{"env_instances": [3]}' > answer && finish 0 && pwd
    """
    end = await run.agent(script, unsafe=unsafe, time_limit_s=30)
    assert end.code == 0, run.log
    assert end.reason == "exited"
    assert len(run.session.trials) == 3
    assert run.session.closed == "finished"
    assert end.isolation == ("none" if unsafe else "bubblewrap+seccomp")
    assert run.log.endswith(f"{run.workspace.root}\n" if unsafe else "/workspace\n")


@either
async def test_the_exit_code_and_the_digest_of_the_output_are_kept(run: Run, unsafe: bool) -> None:
    end = await run.agent("echo out; sleep 0.1; echo err >&2; exit 9", unsafe=unsafe)
    assert end.code == 9
    assert run.log == "out\nerr\n"
    assert end.log_digest == hashlib.sha256(b"out\nerr\n").hexdigest()
    assert end.log_bytes == 8


async def test_events_are_kept_whole_beside_the_log(run: Run) -> None:
    script = """printf '{"a":'; sleep 0.05; printf ' 1}\\nnoise\\n[1]\\n{broken\\n{"b": 2}'; echo '{"c": 3}' >&2"""
    await run.agent(script, unsafe=True)
    events = (run.folder / "agent.events.jsonl").read_text().splitlines()
    assert [json.loads(e) for e in events] == [{"a": 1}, {"b": 2}]


async def test_output_beyond_the_bound_is_counted_and_not_kept(run: Run) -> None:
    end = await run.agent("""head -c 3000000 /dev/zero; echo; echo '{"a": 1}'""", unsafe=True, max_log_bytes=1000)
    assert end.log_bytes == 3_000_000 + 10
    assert (run.folder / "agent.log").stat().st_size == 1000


async def test_a_resumed_agents_output_is_appended(run: Run) -> None:
    await run.agent("echo one", unsafe=True)
    await run.agent("echo two", unsafe=True)
    assert run.log == "one\ntwo\n"


@either
async def test_an_agent_is_asked_to_end_when_its_time_is_up(run: Run, unsafe: bool) -> None:
    script = "trap 'echo asked; exit 4' TERM; while :; do sleep 0.02; done"
    end = await run.agent(script, unsafe=unsafe, time_limit_s=0.6)
    assert (end.code, end.reason) == (4, "time_limit")
    assert run.log.endswith("asked\n")
    assert 0.5 < end.seconds < 5


@either
async def test_an_agent_that_does_not_listen_is_killed(run: Run, unsafe: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "KILL_AFTER_S", 0.4)
    end = await run.agent("trap '' TERM; while :; do sleep 0.02; done", unsafe=unsafe, time_limit_s=0.4)
    assert end.reason == "time_limit"
    assert end.code == 128 + signal.SIGKILL
    assert 0.7 < end.seconds < 5


@either
async def test_an_agent_ends_some_time_after_its_session(run: Run, unsafe: bool) -> None:
    end = await run.agent("heredity finish; sleep 60", unsafe=unsafe, end_grace_s=0.2)
    assert end.reason == "session_ended"
    assert end.code == 128 + signal.SIGTERM
    assert end.seconds < 10


@confined
@pytest.mark.parametrize("how", ["exits", "is cancelled"])
async def test_nothing_outlives_the_agent(run: Run, how: str) -> None:
    beat = "while :; do date +%N > beat; sleep 0.02; done"
    last = "exit 0" if how == "exits" else "sleep 60"
    script = (
        f"(setsid sh -c '({beat}) </dev/null >/dev/null 2>&1 &' &); while [ ! -s beat ]; do sleep 0.01; done; {last}"
    )
    task = asyncio.create_task(run.agent(script))
    if how == "is cancelled":
        await _until(run.workspace.root / "beat")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    else:
        assert (await task).code == 0
    assert _still(run.workspace.root / "beat")


@confined
async def test_nothing_outlives_a_host_that_is_killed(run: Run, tmp_path: Path) -> None:
    host = tmp_path / "host.py"
    host.write_text(
        "import asyncio, sys\nfrom pathlib import Path\n"
        "from tests.agents.launchers.test_command import Run\n"
        "asyncio.run(Run(Path(sys.argv[1])).agent('while :; do date +%N > beat; sleep 0.02; done'))\n"
    )
    path = os.pathsep.join([str(Path(__file__).parents[3]), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path}
    process = await asyncio.create_subprocess_exec(sys.executable, host, run.folder, env=environment)
    await _until(run.workspace.root / "beat")
    process.kill()
    await process.wait()
    await asyncio.sleep(0.1)
    assert _still(run.workspace.root / "beat")


@confined
async def test_only_named_variables_are_inherited(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "s3cret")
    monkeypatch.setenv("MODEL_KEY", "m0del")
    end = await run.agent(
        "env; cat /proc/*/environ | tr '\\0' '\\n'", inherit=("MODEL_KEY", "ABSENT"), environment={"A": "b c"}
    )
    assert end.code == 0
    assert "MODEL_KEY=m0del" in run.log
    assert "A=b c" in run.log
    assert "s3cret" not in run.log


@confined
async def test_folders_of_the_agents_own_programs_can_be_shown(run: Run, tmp_path: Path) -> None:
    tool = tmp_path / "tools" / "tool.sh"
    tool.parent.mkdir()
    tool.write_text("echo works\n")
    end = await run.agent(f"sh {tool} && ! touch {tool}", read_only=(tool.parent,))
    assert end.code == 0, run.log
    assert run.log.startswith("works\n")


@confined
async def test_of_heredity_its_agents_can_be_shown_and_nothing_else(run: Run) -> None:
    library = agents_folder().parent
    end = await run.agent(
        f"test -f {library}/agents/posttraining/start.sh && ! test -e {library}/worlds && ! test -e {library.parent}/ids.py",
        read_only=(library / "agents" / "posttraining",),
    )
    assert end.code == 0, run.log
    for shown in (
        library,
        library / "worlds",
        library / "harnesses",
        library.parent,
        library / "agents" / ".." / "worlds",
    ):
        with pytest.raises(ConfigError, match="would reveal"):
            await run.agent("true", read_only=(shown,))


def host_devices() -> list[Path]:
    """Return devices of this machine that a sandbox does not have of its own."""
    own = {"core", "fd", "full", "null", "ptmx", "random", "stderr", "stdin", "stdout", "tty", "urandom", "zero"}
    return [path for path in Path("/dev").iterdir() if path.is_char_device() and path.name not in own]


@confined
async def test_only_the_devices_that_were_named_are_there(run: Run) -> None:
    others = host_devices()
    if len(others) < 2:
        pytest.skip("this machine has no devices beyond those of every sandbox")
    device, other = others[:2]
    end = await run.agent(f"test -c {device} && ! test -e {other}", devices=(device,))
    assert (end.code, end.isolation) == (0, "bubblewrap+seccomp+devices"), run.log
    assert (await run.agent(f"! test -e {device}")).code == 0


@confined
@pytest.mark.parametrize("shown", ["..", ".", "workspace", "sealed", "/", "missing", "sealed/inner"])
async def test_a_folder_that_would_reveal_secrets_is_refused(run: Run, tmp_path: Path, shown: str) -> None:
    (run.folder / "sealed").mkdir(parents=True)
    hidden_cases = tmp_path / "sealed"
    (hidden_cases / "inner").mkdir(parents=True)
    path = (
        hidden_cases if shown == "sealed" else hidden_cases / "inner" if shown == "sealed/inner" else run.folder / shown
    )
    with pytest.raises(ConfigError, match=r"reveal|does not exist"):
        await run.agent("true", read_only=(path,), protected=(hidden_cases,))


async def test_a_machine_without_bubblewrap_refuses_unless_told_otherwise(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    available.cache_clear()
    try:
        with pytest.raises(IsolationError, match="bubblewrap is not installed"):
            await run.agent(["/bin/true"])
        assert (await run.agent(["/bin/true"], unsafe=True)).code == 0
    finally:
        available.cache_clear()


async def test_a_command_that_cannot_be_started_says_so(run: Run) -> None:
    with pytest.raises(ConfigError, match="/no/such/agent"):
        await run.agent(["/no/such/agent"], unsafe=True)


@confined
async def test_a_command_missing_in_the_sandbox_says_so(run: Run) -> None:
    assert (await run.agent(["/no/such/agent"])).code == 127
    assert "/no/such/agent" in run.log


def test_settings_that_make_no_sense_are_refused() -> None:
    for wrong in ({"command": ""}, {"command": []}, {"command": "x", "time_limit_s": 0}):
        with pytest.raises(ConfigError):
            CommandAgent(**wrong)  # type: ignore[arg-type]


@confined
async def test_the_hill_climber_in_python_spends_its_budget_over_http(run: Run) -> None:
    run.workspace.prepare()
    source = (EXAMPLES / "hillclimb.py").read_text()
    end = await run.agent(["python3", "-c", source], time_limit_s=60, end_grace_s=10)
    assert end.code == 0, run.log
    assert run.session.left == 0
    assert len(run.session.trials) == 8
    assert len({t.candidate.digest for t in run.session.trials}) == 8
    assert len((run.folder / "agent.events.jsonl").read_text().splitlines()) == 8


@confined
async def test_the_hill_climber_in_shell_keeps_the_best(run: Run) -> None:
    end = await run.agent(["sh", "-c", (EXAMPLES / "hillclimb.sh").read_text()], time_limit_s=60, end_grace_s=10)
    assert end.code == 0, run.log
    assert "best gain: 3" in run.log
    assert run.workspace.snapshot().text("policy.py").startswith("GAIN = 3\n")
    assert run.session.closed == "finished"


async def _until(path: Path) -> None:
    for _ in range(500):
        if _has_content(path):
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{path} never came")


def _has_content(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def _still(path: Path) -> bool:
    before = path.read_text()
    time.sleep(0.2)
    return path.read_text() == before
