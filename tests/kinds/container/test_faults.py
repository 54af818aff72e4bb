"""Whose fault it is that a verifier gives no reward, and verifiers in environments of their own."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.kinds.container.folders import TOML, write_task

from heredity._core.errors import ConfigError, IsolationError
from heredity.kinds.container import verification
from heredity.kinds.container.format import read_task
from heredity.kinds.container.verification import Controls, Verdict, attempt
from heredity.results.status import FailureSource
from heredity.sandbox import bubblewrap_root
from heredity.sandbox.containers import BubblewrapBackend
from heredity.sandbox.containers.contract import open_backend

FRAIL = """
cd /app
case "$(head -c 100 answer.txt 2>/dev/null)" in
  hang) sleep 60;;
  flood) head -c 32M /dev/zero | tr '\\0' x; exit 1;;
  eat) python3 -c 'held = [bytearray(8 << 20) for _ in range(1000)]';;
  swarm) for i in $(seq 300); do sleep 60 & done; wait;;
  kill) kill -9 -1;;
  self) kill -9 $$;;
  stop) kill -STOP $$;;
  nan) echo nan > /logs/verifier/reward.txt;;
  none) exit 1;;
  link) ln -s /app/answer.txt /logs/verifier/reward.txt;;
  hello) echo 1 > /logs/verifier/reward.txt;;
  *) cat needed > /dev/null && echo 0 > /logs/verifier/reward.txt;;
esac
"""
FRAIL_IMAGE = "FROM debian:stable\nWORKDIR /app\nRUN echo x > needed\n"
SHORT = TOML.replace("timeout_sec = 20\n[agent]", "timeout_sec = 3\n[agent]")


@pytest.mark.parametrize("answer", ["hang", "flood", "eat", "swarm", "kill", "self", "stop", "nan", "none", "link"])
@pytest.mark.fast(4)
async def test_a_verifier_that_fails_of_what_the_agent_left_counts_nothing(
    backend: BubblewrapBackend, tmp_path: Path, answer: str
) -> None:
    task = read_task(write_task(tmp_path, toml=SHORT, test=FRAIL, dockerfile=FRAIL_IMAGE))
    verdict = (await attempt(backend, task, f"printf {answer} > answer.txt")).verdict
    assert verdict.status != "ok"
    assert (verdict.failure_source, verdict.reward) == ("candidate", 0.0), verdict
    assert "it works on the untouched environment" in verdict.message


async def test_what_the_verifier_needs_and_the_agent_deleted_is_the_agents_fault(
    backend: BubblewrapBackend, tmp_path: Path
) -> None:
    task = read_task(write_task(tmp_path, test=FRAIL, dockerfile=FRAIL_IMAGE))
    verdict = (await attempt(backend, task, "rm needed")).verdict
    assert (verdict.status, verdict.failure_source, verdict.reward) == ("reward_missing", "candidate", 0.0)


async def test_a_verifier_that_needs_the_work_is_tried_on_the_solution(
    backend: BubblewrapBackend, tmp_path: Path
) -> None:
    test = "cat /app/answer.txt && echo 1 > /logs/verifier/reward.txt\n"
    task = read_task(write_task(tmp_path, test=test, solve="echo x > /app/answer.txt\n"))
    verdict = (await attempt(backend, task, None)).verdict
    assert (verdict.failure_source, verdict.reward) == ("candidate", 0.0)
    assert "it works on the solution" in verdict.message


@pytest.mark.parametrize("solve", [None, "true\n", "exit 3\n"])
async def test_a_verifier_that_works_nowhere_is_the_environments_fault(
    backend: BubblewrapBackend, tmp_path: Path, solve: str | None
) -> None:
    task = read_task(write_task(tmp_path, test="exit 1\n", solve=solve))
    verdict = (await attempt(backend, task, "true")).verdict
    assert (verdict.status, verdict.failure_source, verdict.reward) == ("reward_missing", "environment", None)


async def test_a_verifier_that_failed_once_is_asked_again(
    backend: BubblewrapBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, asked = read_task(write_task(tmp_path)), list[str]()
    really = verification.verify

    async def at_first_too_slow(*given: Any) -> Verdict:
        asked.append("again" if asked else "first")
        late = Verdict("verifier_timeout", FailureSource.ENVIRONMENT, None)
        return late if asked == ["first"] else await really(*given)

    monkeypatch.setattr(verification, "verify", at_first_too_slow)
    assert (await attempt(backend, task, "printf hello > greeting.txt")).verdict.reward == 1.0
    assert asked == ["first", "again"]


async def test_verifiers_are_tried_once_for_each_task(
    backend: BubblewrapBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, controls, asked = read_task(write_task(tmp_path, test="exit 1\n", solve=None)), Controls(backend), list[str]()
    really = verification.verify

    async def counted(*given: Any) -> Verdict:
        asked.append("")
        return await really(*given)

    monkeypatch.setattr(verification, "verify", counted)
    await asyncio.gather(*(attempt(backend, task, agent, controls) for agent in (None, "true", "echo")))
    assert len(asked) == 3 * 2 + 1


async def test_folders_that_stand_too_deep_are_the_agents_own_fault(backend: BubblewrapBackend, tmp_path: Path) -> None:
    deep = "python3 -c \"import os\nfor _ in range(1900): os.mkdir('d'); os.chdir('d')\""
    verdict = (await attempt(backend, read_task(write_task(tmp_path)), deep)).verdict
    assert (verdict.status, verdict.failure_source, verdict.reward) == ("unrestorable", "candidate", 0.0)


# --- separate verifiers

SEPARATE = TOML.replace(
    'schema_version = "1.4"', 'schema_version = "1.4"\nartifacts = ["/app/out", "/app/one.txt"]'
).replace("timeout_sec = 20\n[agent]", 'timeout_sec = 20\nenvironment_mode = "separate"\n[agent]')
CLEAN = (
    '[ -e /app/secret ] && echo 1 > /logs/verifier/reward.txt && exit; [ "$(cat /app/given)" = 6 ] || exit 1\n'
    'if [ "$(cat /app/out/answer)" = 42 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n'
)
GIVEN = "FROM debian:stable\nWORKDIR /app\nRUN echo 6 > given\n"


async def test_a_separate_verifier_gets_the_artifacts_and_nothing_else(
    backend: BubblewrapBackend, tmp_path: Path
) -> None:
    task = read_task(write_task(tmp_path, toml=SEPARATE, test=CLEAN, dockerfile=GIVEN))
    # A forged input and a file that only the agent's environment has.
    wrong = await attempt(backend, task, "touch secret; echo 7 > given; mkdir out; echo 41 > out/answer")
    right = await attempt(backend, task, "mkdir out; echo 42 > out/answer; rm given")
    nothing = await attempt(backend, task, None)
    assert [rollout.verdict.reward for rollout in (wrong, right, nothing)] == [0.0, 1.0, 0.0], wrong


async def test_a_separate_verifier_may_have_a_dockerfile_of_its_own(backend: BubblewrapBackend, tmp_path: Path) -> None:
    files = {"tests/Dockerfile": "FROM debian:stable\nWORKDIR /work\nCOPY . /tests\nRUN echo 5 > mine\n"}
    toml = SEPARATE + "[verifier.environment]\nstorage_mb = 16\n"
    test = '[ "$(cat mine)" = 5 ] && [ ! -e /app/given ] && [ -x /app/one.txt ] && echo 1 > /logs/verifier/reward.txt\n'
    task = read_task(write_task(tmp_path, toml=toml, test=test, dockerfile=GIVEN, files=files))
    rollout = await attempt(backend, task, "touch one.txt; chmod +x one.txt")
    assert rollout.verdict.reward == 1.0, rollout


async def test_hooks_run_before_artifacts_are_taken_and_patterns_leave_some_out(
    backend: BubblewrapBackend, tmp_path: Path
) -> None:
    toml = SEPARATE.replace('"/app/out"', '{source = "/app/out", exclude = ["*.log", "build/*"]}').replace(
        "[agent]", '[[verifier.collect]]\ncommand = "env > /app/out/state; echo a > /logs/artifacts/x"\n[agent]'
    )
    test = (
        'cd /app/out; [ "$(find . -type f | sort | xargs)" = "./answer ./state" ] && [ -e /logs/artifacts/x ] && '
        "echo 1 > /logs/verifier/reward.txt\n"
    )
    image = GIVEN + "RUN mkdir -p out /logs/artifacts && echo old > out/stale\n"
    task = read_task(write_task(tmp_path, toml=toml, test=test, dockerfile=image))
    agent = (
        "rm out/stale; mkdir out/build out/sub; touch out/answer out/a.log out/sub/b.log out/build/c; ln -s / out/root"
    )
    rollout = await attempt(backend, task, agent)
    assert rollout.verdict.reward == 1.0, rollout


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        (SEPARATE.replace("/app/out", "/tests/x"), "artifacts names /tests/x"),
        (SEPARATE.replace("/app/out", "/logs"), "artifacts names /logs"),
        (SEPARATE.replace("/app/out", "out"), "an absolute path without"),
        (SEPARATE.replace("/app/out", "/app/../tests"), "an absolute path without"),
        (SEPARATE.replace('"/app/out"', '{source = "/x", service = "db"}'), "artifacts.0..service"),
        (SEPARATE.replace("[agent]", "[[verifier.collect]]\ncommand = 'x'\nservice = 'db'\n[agent]"), "collect.0..service"),
        (SEPARATE.replace("[agent]", "[[verifier.collect]]\ncommand = 'x'\nuser = 'me'\n[agent]"), "collect.0..user"),
        (SEPARATE + "[verifier.environment]\n", "no docker_image, and .* no Dockerfile"),
    ],
)  # fmt: skip
def test_what_a_separate_verifier_cannot_have_is_refused(tmp_path: Path, toml: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_task(write_task(tmp_path, toml=toml))


# --- builds


async def test_everybody_who_waits_for_a_build_that_fails_gets_its_error(
    backend: BubblewrapBackend, tmp_path: Path
) -> None:
    task = read_task(write_task(tmp_path, dockerfile="FROM debian\nRUN sleep 0.2; exit 4\n"))
    errors = await asyncio.gather(*(backend.build(task) for _ in range(3)), return_exceptions=True)
    assert [type(error) for error in errors] == [ConfigError] * 3, errors
    with pytest.raises(ConfigError, match="code 4"):
        await backend.build(task)


async def test_without_bubblewrap_nothing_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    bubblewrap_root.available.cache_clear()
    monkeypatch.setenv("PATH", "/nowhere")
    try:
        with pytest.raises(IsolationError, match="bubblewrap is not installed"):
            async with open_backend("bubblewrap"):
                raise AssertionError("it was opened")
    finally:
        bubblewrap_root.available.cache_clear()
