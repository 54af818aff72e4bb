"""What hangs is told by counted work: no machine that is slow, loaded or stopped changes a verdict."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.kinds.world.dsl.wells import well

from heredity._core.errors import HeredityError
from heredity.kinds.world.contract import Action, Outcome
from heredity.kinds.world.dsl import hooks
from heredity.kinds.world.gates import contract as patience
from heredity.kinds.world.gates.admit import Admission, admit
from heredity.kinds.world.gates.contract import StuckError, Subject, UnjudgedError, watched
from heredity.kinds.world.gates.mutants import Around, Held, set_shipped, twin
from heredity.kinds.world.world import World, world
from heredity.sandbox import isolation

PATIENCE = 0.05
GATES = ("execution",)


def judged(then: Callable[[Held], None], *, most: float = PATIENCE) -> Admission:
    """Execute a gate on a world that does something with every action."""

    class Acting(Around):
        def act(self, state: Held, action: Action) -> Outcome:
            then(state)
            return super().act(state, action)

    made = twin(world("grid_treasure"), Acting(world("grid_treasure").dynamics))
    set_shipped(made, {split: levels[:1] for split, levels in made.shipped.items()})
    return admit(Subject.of(made, patience=most, library={}), only=GATES)


def in_another_process(work: Callable[[], Any], disturb: Callable[[int], None]) -> Any:
    """Return what some work gives in a forked process, which something is done to meanwhile."""
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        os.setsid()
        os.write(write, json.dumps(work()).encode())
        os._exit(0)
    os.close(write)
    try:
        disturb(pid)
        with os.fdopen(read, "rb") as file:
            return json.loads(file.read())
    finally:
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def stopped(seconds: float) -> Callable[[int], None]:
    def disturb(pid: int) -> None:
        assert os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1])
        time.sleep(seconds)
        os.killpg(pid, signal.SIGCONT)

    return disturb


def test_a_process_that_is_stopped_in_the_middle_of_a_gate_comes_to_the_same_verdict() -> None:
    stops = [0]

    def stop(state: Held) -> None:
        stops[0] += 1
        if stops[0] == 40:
            os.kill(os.getpid(), signal.SIGSTOP)

    undisturbed = judged(lambda state: None).to_json()
    assert undisturbed["gates"][0]["passed"]
    longer = (patience.FOREVER + 10) * PATIENCE
    assert in_another_process(lambda: judged(stop).to_json(), stopped(longer)) == undisturbed


@pytest.mark.slow
def test_a_process_that_is_stopped_with_its_sandbox_comes_to_the_same_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        isolation.resolve()
    except HeredityError:
        pytest.skip("programs cannot be confined on this machine")
    monkeypatch.setattr(hooks, "CALL_S", 0.2)
    monkeypatch.setattr(patience, "FOREVER", 10)

    def work() -> Any:
        made = World(well(tmp_path))
        set_shipped(made, made.make_shipped())
        return admit(Subject.of(made, patience=0.1, library={}), only=GATES).to_json()

    def disturb(pid: int) -> None:
        for _ in range(8):
            time.sleep(0.15)
            if os.waitpid(pid, os.WNOHANG) != (0, 0):
                pytest.fail("it has ended before it could be stopped")
            os.killpg(pid, signal.SIGSTOP)
            time.sleep(1.2)
            os.killpg(pid, signal.SIGCONT)

    assert in_another_process(work, disturb) == in_another_process(work, lambda pid: None)


def test_what_takes_long_and_comes_back_is_no_hang() -> None:
    """Ten times the processor seconds after which lines are counted, in few lines."""
    began = [0.0]

    def slow(state: Held) -> None:
        if not began[0]:
            began[0] = time.process_time()
            while time.process_time() < began[0] + 10 * PATIENCE:
                sum(range(100_000))

    assert judged(slow).gates[0].passed


@pytest.mark.parametrize("how", ["loop", "catches", "calls", "no Python"])
def test_what_never_comes_back_is_a_hang(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By lines, however long the machine takes for them; by the time only where there are none."""
    monkeypatch.setattr(patience, "FOREVER", 8 if how == "no Python" else 2_000)

    def loop() -> None:
        while True:
            pass

    def catches() -> None:
        while True:
            with contextlib.suppress(Exception):
                loop()

    def calls() -> None:
        while all(iter(lambda: True, False)):
            pass

    hangs = {"loop": loop, "catches": catches, "calls": calls, "no Python": lambda: re.match("(a+)+$", "a" * 60 + "b")}
    admission = judged(lambda state: hangs[how]() if state.t == 3 else None)
    [finding] = admission.gates[0].findings
    assert (finding.kind, finding.level) == ("hang", "test-01")
    assert ("of processor time" if how == "no Python" else "lines of Python") in finding.message
    assert not admission.admitted


def test_what_only_waits_is_not_judged_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "FOREVER", 8)
    waited = list[int]()

    def wait(state: Held) -> None:
        if state.t == 3:
            waited.append(state.t)
            time.sleep(60)

    admission = judged(wait)
    assert (waited, admission.gates[0].findings, admission.gates[0].passed) == ([3, 3], (), False)
    assert "could not be judged, tried 2 times: no work was done for" in admission.gates[0].unjudged
    assert not admission.admitted

    def wait_once(state: Held) -> None:
        if state.t == 3 and len(waited) < 3:
            waited.append(state.t)
            time.sleep(60)

    assert judged(wait_once).gates[0].passed


def _after_another() -> None:
    with watched(PATIENCE):
        with watched(PATIENCE):
            pass
        while True:
            pass


def test_what_surrounds_watched_work_is_watched_after_it_and_left_as_it_was() -> None:
    handlers = [signal.getsignal(number) for number in (signal.SIGPROF, signal.SIGALRM)]
    with pytest.raises(StuckError, match="500000 lines"):
        _after_another()
    with pytest.raises(UnjudgedError), watched(0.001):
        time.sleep(10)
    assert [signal.getsignal(number) for number in (signal.SIGPROF, signal.SIGALRM)] == handlers
    assert signal.getitimer(signal.ITIMER_PROF)[0] == signal.getitimer(signal.ITIMER_REAL)[0] == 0.0
