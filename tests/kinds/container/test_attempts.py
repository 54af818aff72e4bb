"""Rollouts at container tasks, and what a task or an agent may do wrong in them."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest
from tests.kinds.container.folders import TEST, TOML, write_task

from heredity._core.errors import ConfigError
from heredity.kinds.container.format import read_task
from heredity.kinds.container.verification import Agent, ContainerRollout, attempt, oracle
from heredity.sandbox.containers import BubblewrapBackend, ContainerSandbox
from heredity.sandbox.containers.task import ContainerTask
from heredity.sandbox.process_groups import unavailable

GREET = "printf hello > /app/greeting.txt"


async def tried(backend: BubblewrapBackend, folder: Path, agent: Agent | None = GREET, **task: str) -> ContainerRollout:
    return await attempt(backend, read_task(write_task(folder, **task)), agent)  # type: ignore[arg-type]


async def test_the_solution_passes_and_doing_nothing_does_not(backend: BubblewrapBackend, tmp_path: Path) -> None:
    task = read_task(write_task(tmp_path))
    solved, idle = await oracle(backend, task), await attempt(backend, task, None)
    assert (solved.verdict.status, solved.verdict.reward, solved.verdict.failure_source) == ("ok", 1.0, "none")
    assert (idle.verdict.status, idle.verdict.reward, idle.verdict.failure_source) == ("ok", 0.0, "none")


async def test_an_agent_may_be_a_function_that_is_given_the_sandbox(backend: BubblewrapBackend, tmp_path: Path) -> None:
    async def agent(sandbox: ContainerSandbox, task: ContainerTask) -> None:
        assert "greeting.txt" in task.instruction
        assert (await sandbox.exec("test -e /tests -o -e /solution")).code == 1
        await sandbox.exec(GREET)

    assert (await tried(backend, tmp_path, agent)).verdict.reward == 1.0


async def test_processes_left_behind_are_ended_before_the_verifier_begins(
    backend: BubblewrapBackend, tmp_path: Path
) -> None:
    # The loop would put the file there again if it still ran.
    agent = "(while true; do sleep 0.02; touch /app/still; done) & setsid sleep 300 & sleep 0.1"
    test = "rm -f /app/still; sleep 0.2; test -e /app/still; echo $? > /logs/verifier/reward.txt\n"
    rollout = await tried(backend, tmp_path, agent, test=test)
    assert any("sleep 300" in command for command in rollout.leftovers)
    assert len(rollout.leftovers) >= 2
    assert (rollout.verdict.status, rollout.verdict.reward) == ("ok", 1.0)


async def test_a_full_disk_is_contained_and_recorded(backend: BubblewrapBackend, tmp_path: Path) -> None:
    agent = "for i in $(seq 64); do head -c 4M /dev/zero > /app/$i 2>/dev/null || break; done; printf hello > /tmp/x"
    rollout = await tried(backend, tmp_path, agent)
    assert rollout.disk_full
    assert (rollout.verdict.status, rollout.verdict.reward) == ("ok", 0.0)


@pytest.mark.parametrize("folder", ["/dev", "/dev/shm", "/run", "/proc", "/usr", "/etc"])
@pytest.mark.fast(2)
async def test_nowhere_can_more_be_written_than_is_allowed(
    backend: BubblewrapBackend, tmp_path: Path, folder: str
) -> None:
    agent = f"for i in $(seq 64); do head -c 4M /dev/zero > {folder}/fill$i || break; done; du -sxm {folder}"
    rollout = await tried(backend, tmp_path, agent)
    assert rollout.agent is not None
    written = int(rollout.agent.stdout.split()[0]) if rollout.agent.stdout.split() else 0
    assert written <= 64 or folder == "/usr"
    assert "/fill64" not in rollout.agent.stderr
    assert (
        "No space left" in rollout.agent.stderr
        or "Read-only" in rollout.agent.stderr
        or "directory" in rollout.agent.stderr
    )


@pytest.mark.parametrize(
    "tampering",
    [
        "echo 1 > /logs/verifier/reward.txt",
        "echo '{\"reward\": 1}' > /logs/verifier/reward.json",
        "mkdir -p /tests; echo 'echo 1 > /logs/verifier/reward.txt' > /tests/test.sh",
        "(while true; do echo 1 > /logs/verifier/reward.txt; done) &",
        "chmod 000 /logs/verifier; chmod 000 /logs",
        "cd /; rm -r /app",
        "chmod 000 /app /tmp",
        "rm -r /logs/verifier; ln -s /app /logs/verifier; echo 1 > /app/reward.txt",
        "rm -r /logs/verifier; mkfifo /logs/verifier",
        "echo /app/evil.so > /etc/ld.so.preload",
        "printf '#!/bin/sh\\necho hello' > /app/cat; chmod +x /app/cat; export PATH=/app:$PATH",
        "ln -sfn /app /bin",
        "rm -rf /logs; ln -s /app /logs; mkdir /app/verifier; echo 1 > /app/verifier/reward.txt",
        "mkdir -p ~/.local/lib/python3.11/site-packages; echo 'import os' > ~/.local/lib/python3.11/site-packages/usercustomize.py",
    ],
)
@pytest.mark.fast(5)
async def test_tampering_with_the_verifiers_places_earns_nothing(
    backend: BubblewrapBackend, tmp_path: Path, tampering: str
) -> None:
    image = "FROM debian\nENV PATH=/app:$PATH\nWORKDIR /app\n"
    rollout = await tried(backend, tmp_path, tampering, dockerfile=image)
    assert (rollout.verdict.status, rollout.verdict.reward) == ("ok", 0.0), rollout


async def test_what_was_put_into_the_verifiers_places_is_recorded(backend: BubblewrapBackend, tmp_path: Path) -> None:
    agent = "echo 1 > /logs/verifier/reward.txt; mkdir /tests; echo x > /tests/test.sh; echo y > /etc/ld.so.preload"
    rollout = await tried(backend, tmp_path, agent)
    assert set(rollout.discarded) == {"/logs/verifier/reward.txt", "/tests/test.sh", "/etc/ld.so.preload"}


async def test_moving_a_systems_folder_away_is_the_agents_own_fault(backend: BubblewrapBackend, tmp_path: Path) -> None:
    rollout = await tried(backend, tmp_path, f"{GREET}; mv /etc /gone; echo x > /etc")
    assert (rollout.verdict.status, rollout.verdict.failure_source, rollout.verdict.reward) == (
        "unrestorable",
        "candidate",
        0.0,
    )


async def test_too_many_files_are_the_agents_own_fault(backend: BubblewrapBackend, tmp_path: Path) -> None:
    rollout = await tried(backend, tmp_path, "cd /tmp; seq 3000 | xargs touch")
    assert (rollout.verdict.status, rollout.verdict.failure_source, rollout.verdict.reward) == (
        "unrestorable",
        "candidate",
        0.0,
    )
    assert "2000 files" in rollout.verdict.message


@pytest.mark.parametrize(
    ("writing", "status"),
    [
        ("true", "reward_missing"),
        (": > reward.txt", "reward_empty"),
        ("echo > reward.txt", "reward_empty"),
        ("echo nan > reward.txt", "reward_invalid"),
        ("echo inf > reward.txt", "reward_invalid"),
        ("echo one > reward.txt", "reward_invalid"),
        ("ln -s /etc/passwd reward.txt", "reward_invalid"),
        ("mkfifo reward.txt", "reward_invalid"),
        ("echo 1 > reward.txt; ln reward.txt other", "reward_invalid"),
        ("echo '{\"reward\": NaN}' > reward.json", "reward_invalid"),
        ("echo '{\"reward\": -Infinity}' > reward.json", "reward_invalid"),
        ("echo '{\"reward\": true}' > reward.json", "reward_invalid"),
        ("echo '[1]' > reward.json", "reward_invalid"),
        ("echo '{}' > reward.json", "reward_empty"),
        ("echo 1 > reward.txt; echo nan > reward.json", "reward_invalid"),
        ("echo 1 > reward.txt; : > reward.json", "reward_empty"),
        ("head -c 2M /dev/zero > reward.txt", "reward_invalid"),
    ],
)
@pytest.mark.fast(5)
async def test_a_reward_that_is_none_is_an_error_and_not_a_zero(
    backend: BubblewrapBackend, tmp_path: Path, writing: str, status: str
) -> None:
    verdict = (await tried(backend, tmp_path, test=f"cd /logs/verifier\n{writing}\n")).verdict
    assert (verdict.status, verdict.failure_source, verdict.reward) == (status, "environment", None)
    assert verdict.message


async def test_json_wins_over_text_and_may_have_several_rewards(backend: BubblewrapBackend, tmp_path: Path) -> None:
    test = 'cd /logs/verifier; echo 0 > reward.txt; echo \'{"speed": 0.5, "reward": 0.75}\' > reward.json\n'
    verdict = (await tried(backend, tmp_path, test=test)).verdict
    assert (verdict.reward, verdict.rewards) == (0.75, {"speed": 0.5, "reward": 0.75})


async def test_a_verifier_that_does_not_end_is_an_error(backend: BubblewrapBackend, tmp_path: Path) -> None:
    test = "echo 1 > /logs/verifier/reward.txt; sleep 60\n"
    verdict = (await tried(backend, tmp_path, test=test, toml="[verifier]\ntimeout_sec = 0.3\n")).verdict
    assert (verdict.status, verdict.failure_source, verdict.reward) == ("verifier_timeout", "environment", None)


@pytest.mark.parametrize("as_function", [False, True])
async def test_the_work_of_an_agent_whose_time_is_up_is_verified(
    backend: BubblewrapBackend, tmp_path: Path, as_function: bool
) -> None:
    async def function(sandbox: ContainerSandbox, _task: ContainerTask) -> None:
        await sandbox.exec(f"{GREET}; sleep 60")

    agent: Agent = function if as_function else f"{GREET}; sleep 60"
    begun = time.monotonic()
    rollout = await tried(backend, tmp_path, agent, toml="[agent]\ntimeout_sec = 0.4\n")
    assert time.monotonic() - begun < 50
    assert (rollout.agent_status, rollout.verdict.reward) == ("timeout", 1.0)


async def test_memory_is_bounded_for_all_processes_together(backend: BubblewrapBackend, tmp_path: Path) -> None:
    hungry = "python3 -c \"import time; held = bytearray(60 << 20); held[::4096] = b'x' * len(held[::4096]); time.sleep(20)\""
    agent = f"{GREET}; for i in 1 2 3 4 5 6; do {hungry} & done; wait"
    rollout = await tried(backend, tmp_path, agent)
    assert (rollout.agent_status, rollout.verdict.reward) == ("memory", 1.0)


async def test_one_process_cannot_take_more_memory_than_all_may(backend: BubblewrapBackend, tmp_path: Path) -> None:
    rollout = await tried(backend, tmp_path, "python3 -c 'bytearray(1 << 30)'")
    assert rollout.agent is not None
    assert "MemoryError" in rollout.agent.stderr


async def test_too_many_processes_are_ended(backend: BubblewrapBackend, tmp_path: Path) -> None:
    rollout = await tried(backend, tmp_path, f"{GREET}; for i in $(seq 200); do sleep 60 & done; wait")
    assert rollout.verdict.reward == 1.0
    # Either the kernel refused to start more, or the watch ended them all; those it has just killed may still be listed.
    assert rollout.agent_status == "processes" or (rollout.agent_status == "ok" and len(rollout.leftovers) <= 64)


async def test_a_fork_bomb_is_ended(backend: BubblewrapBackend, tmp_path: Path) -> None:
    command, most = f"{GREET}; bomb() {{ bomb | bomb & }}; bomb; sleep 2", 0
    bomb = asyncio.create_task(tried(backend, tmp_path, command))
    while not bomb.done():
        most = max(most, sum(name.isdecimal() for name in os.listdir("/proc")))
        await asyncio.sleep(0.005)
    assert (await bomb).verdict.reward == 1.0
    assert unavailable() or most < 3000, "a bomb without a bound takes all numbers of processes that the machine has"


async def test_permissions_links_and_modes_survive_into_the_verifier(
    backend: BubblewrapBackend, tmp_path: Path
) -> None:
    agent = (
        "cd /app; echo s > secret; chmod 000 secret; mkdir closed; echo i > closed/inner; chmod 000 closed; "
        "ln -s nowhere link; echo h > hard; ln hard hard2; touch -d 2001-02-03 old; chmod 4751 hard"
    )
    test = (
        'cd /app; r=1; [ "$(stat -c %a secret closed | xargs)" = "0 0" ] || r=0; [ "$(readlink link)" = nowhere ] || r=0\n'
        '[ hard -ef hard2 ] && [ "$(stat -c %a hard)" = 4751 ] && [ "$(stat -c %y old | cut -c1-10)" = 2001-02-03 ] || r=0\n'
        'chmod 700 closed; [ "$(cat closed/inner)" = i ] || r=0; echo $r > /logs/verifier/reward.txt\n'
    )
    assert (await tried(backend, tmp_path, agent, test=test)).verdict.reward == 1.0


async def test_a_failing_solution_is_named(backend: BubblewrapBackend, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"solve.sh failed with code 3.*oh no"):
        await oracle(backend, read_task(write_task(tmp_path, solve="echo oh no; exit 3\n")))


async def test_attempts_at_the_same_time_do_not_meet(backend: BubblewrapBackend, tmp_path: Path) -> None:
    task = read_task(write_task(tmp_path))
    rollouts = await asyncio.gather(*(attempt(backend, task, agent) for agent in (GREET, None, GREET)))
    assert [one.verdict.reward for one in rollouts] == [1.0, 0.0, 1.0]


async def test_variables_of_the_verifier_are_its_own(backend: BubblewrapBackend, tmp_path: Path) -> None:
    toml = TOML.replace("[agent]", 'env = {SECRET = "${NOT_SET_ANYWHERE:-42}"}\n[agent]')
    rollout = await tried(
        backend,
        tmp_path,
        "env > /app/seen",
        toml=toml,
        test="grep -q SECRET /app/seen || echo $SECRET > /logs/verifier/reward.txt\n",
    )
    assert rollout.verdict.reward == 42
    with pytest.raises(ConfigError, match="NOT_SET_ANYWHERE"):
        await tried(backend, tmp_path, toml=toml.replace(":-42", ""), test=TEST)
