"""Time by the processor: no load of the machine makes a program late, and what only waits is not called so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.kinds.world.folders.folders import in_step

from heredity._core.errors import HeredityError
from heredity.engine.programs import SandboxedPrograms
from heredity.kinds.world.folders import findings as folder_plays
from heredity.kinds.world.folders.audit import admit_folder, audit_folder
from heredity.resources import SourceTree
from heredity.sandbox import isolation
from heredity.sandbox.waiting import LOOK_S, LateError, UnansweredError, Wait

try:
    isolation.resolve()
except HeredityError:
    pytest.skip("programs cannot be confined on this machine", allow_module_level=True)

TREE = SourceTree(
    {
        "toy.py": """
import time

class Toy:
    def sleep(self, seconds):
        time.sleep(seconds)
        return "slept"

    def work(self, seconds):
        began = time.process_time()
        while time.process_time() - began < seconds:
            pass
        return "worked"
"""
    }
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def programs() -> AsyncIterator[SandboxedPrograms]:
    async with SandboxedPrograms(2) as running:
        yield running


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("method", "asked", "seconds", "came"),
    [
        ("sleep", 0.6, 0.3, "slept"),  # twice as long as the processor's time that it has
        ("sleep", 60, 0.1, "unanswered"),
        ("work", 60, 0.2, "timeout"),
        ("work", 0.1, 5, "worked"),
    ],
)
async def test_a_call_has_so_many_seconds_of_the_processor(
    programs: SandboxedPrograms, method: str, asked: float, seconds: float, came: str
) -> None:
    async with programs.open(TREE, "toy:Toy", {}, processor=True) as toy:
        result = await toy.call(method, {"seconds": asked}, seconds=seconds)
    assert (result.error or result.value) == came, result


@pytest.mark.asyncio(loop_scope="module")
async def test_two_at_work_are_told_from_one_that_waits_beside_them(programs: SandboxedPrograms) -> None:
    async with (
        programs.open(TREE, "toy:Toy", {}, processor=True) as one,
        programs.open(TREE, "toy:Toy", {}, processor=True) as other,
    ):
        works = asyncio.create_task(one.call("work", {"seconds": 60}, seconds=0.6))
        waits = await other.call("sleep", {"seconds": 60}, seconds=0.1)
        assert waits.error == "unanswered"
        assert (await works).error == "timeout"


def look(wait: Wait, times: int) -> None:
    for _ in range(times):
        wait.look()


class Given:
    """A process whose times are given."""

    def __init__(self, used: float, queued: float) -> None:
        self.each, self.looks = (used, queued), 0

    def read(self) -> tuple[float, float]:
        self.looks += 1
        used, queued = self.each
        return used * self.looks, queued * self.looks


@pytest.mark.parametrize(
    ("used", "queued", "error", "most"),
    [
        (LOOK_S, 0.0, LateError, 13),
        (0.1 * LOOK_S, 0.9 * LOOK_S, LateError, 130),  # ready all the while, with a tenth of a processor
        (0.0, 0.0, UnansweredError, 50),
        (0.1 * LOOK_S, 0.0, UnansweredError, 60),
    ],
)
def test_who_is_ready_and_has_no_processor_does_not_wait(
    used: float, queued: float, error: type[Exception], most: int
) -> None:
    time_of: Any = Given(used, queued)
    wait = Wait(time_of, 1.0)
    with pytest.raises(error) as caught:
        look(wait, most)
    assert type(caught.value) is error


@pytest.mark.asyncio(loop_scope="module")
async def test_a_folder_that_only_waits_is_not_judged(
    programs: SandboxedPrograms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_plays, "PLAY_S", 0.1)
    folder = in_step("import time; time.sleep(60)", tmp_path / "w")
    report = await audit_folder(folder, programs, 0, levels=["level_01"])
    assert "could not be judged" in report.unjudged
    assert not [finding for finding in report.findings if finding.kind == "fails"]
    admission = await admit_folder(folder, programs, steps=0)
    last = admission.gates[-1]
    assert (admission.admitted, last.gate, last.findings) == (False, "execution", ())
    assert "could not be judged" in last.unjudged


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.slow
async def test_a_folder_that_works_without_end_hangs(
    programs: SandboxedPrograms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_plays, "PLAY_S", 0.15)
    folder = in_step("while action['action'] == 'light': pass", tmp_path / "w")
    report = await audit_folder(folder, programs, 0, levels=["level_01"])
    assert not report.unjudged
    texts = [finding.text for finding in report.findings if "of the processor" in finding.text]
    assert texts, [finding.text for finding in report.findings]
