"""Hooks: functions in Python beside the rules, called in the sandbox, checked, remembered, and never run by reading a world."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from tests.engine.fakes import ListedModel
from tests.kinds.world.dsl.wells import YAML, well
from typer.testing import CliRunner

from heredity._core.errors import ConfigError, HeredityError, HostError
from heredity._core.ids import generator
from heredity.cli.main import app
from heredity.engine.player import plain_player
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.kinds.world.commands.bench import _worlds
from heredity.kinds.world.dsl.bounded import Allowance, HookError, RuleError, SlowHookError, spending
from heredity.kinds.world.dsl.schema import Hook
from heredity.kinds.world.gates.admit import admit
from heredity.kinds.world.gates.contract import Subject
from heredity.kinds.world.gates.mutants import set_shipped
from heredity.kinds.world.kind import WorldRunner
from heredity.kinds.world.world import World
from heredity.results.status import FailureSource
from heredity.sandbox import isolation
from heredity.sandbox import zygote as kept
from heredity.sandbox.limits import Limits
from heredity.tasks import Task
from heredity.tasks.registry import taskset

try:
    isolation.resolve()
except HeredityError:
    pytest.skip("programs cannot be confined on this machine", allow_module_level=True)

LEVEL = {"water": 3, "clouds": [2, 0, 1, 0, 0, 2, 1, 0]}
WAIT = {"action": "wait"}


def asked(folder: Path, level: Any = LEVEL) -> Any:
    """Return what the well holds after a day of waiting."""
    episode = World(folder).start(level)
    episode.step(WAIT)
    return episode.observe()["water"]


def test_a_rule_calls_a_hook_with_what_it_takes_and_reads(tmp_path: Path) -> None:
    made = World(well(tmp_path))
    assert asked(made.folder) == 3 + 2 * round(1.14) // 2
    level = made.make(3, 2)
    assert made.make(3, 2).data == level.data
    assert level.upper_bound.kind == "exact"
    assert made.play(level.data) == level.upper_bound.value == level.reference
    assert made.dynamics.hooks is not None
    assert len({json.dumps(made.make(seed, 1).data) for seed in range(5)}) == 5


def test_what_follows_an_action_does_not_follow_its_end_nor_a_refusal(tmp_path: Path) -> None:
    episode = World(well(tmp_path)).start({"water": 15, "clouds": [2] * 8})
    steps = [episode.step({"action": "draw", "params": {"litres": 3}}) for _ in range(5)]
    assert (steps[-1].terminated, episode.state.day) == (True, 4)
    episode = World(well(tmp_path)).start({"water": 1, "clouds": [2] * 8})
    assert episode.step({"action": "draw", "params": {"litres": 2}}).refused
    assert (episode.state.day, episode.state.water) == (1, 1)


def test_all_chance_of_a_hook_comes_from_what_it_is_given(tmp_path: Path) -> None:
    rain = "def rain(water, clouds, day):\n    return (random.randint(0, 2) + int(numpy.random.randint(3))) % 3"
    folder = well(tmp_path, rain, start="import numpy")
    one, other = World(folder), World(folder)
    days = [{"water": water, "clouds": [0] * 8} for water in range(6)]
    drawn = [[made.start(day).step(WAIT) and _after(made, day) for day in days] for made in (one, other)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) > 1
    assert one.dynamics.hooks is not None
    assert one.dynamics.hooks.differing(generator(0, "again")) == (6, [])


def _after(made: World, level: Any) -> int:
    episode = made.start(level)
    episode.step(WAIT)
    return episode.state.water - level["water"]


def test_the_same_values_are_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[bytes] = []
    call = kept.Sandbox.call

    def counted(self: kept.Sandbox, what: kept.Kept, method: bytes, arguments: bytes, seconds: float) -> bytes:
        calls.append(arguments)
        return call(self, what, method, arguments, seconds)

    monkeypatch.setattr(kept.Sandbox, "call", counted)
    made = World(well(tmp_path))
    for _ in range(3):
        _after(made, LEVEL)
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("rain", "said"),
    [
        (
            "def rain(water, clouds, day):\n    return 3",
            "the result of rain is 3; expected an integer from 0 to 2",
        ),
        ("def rain(water, clouds, day):\n    return True", "expected an integer"),
        ("def rain(water, clouds, day):\n    return 10 ** 30", "a number beyond"),
        ("def rain(water, clouds, day):\n    return float('nan')", "cannot be sent as JSON"),
        ("def rain(water, clouds, day):\n    return [[0] * 200_000]", "more than 262144|takes .* bytes"),
        ("def rain(water, clouds, day):\n    x = []\n    x.append(x)\n    return x", "cannot be sent"),
        ("def rain(water, clouds, day):\n    return {}[water]", r"KeyError: 3 \(hooks.py, line 8\)"),
        ("def rain(water, clouds, day):\n    raise SystemExit", r"SystemExit \(hooks.py, line 8\)"),
        ("def rain(water, clouds, day):\n    os._exit(7)", r"its process ended \(exit status 7\)"),
        ("def rain(water, clouds, day):\n    return os.write(4, b'nonsense' * 99)", "out of turn"),
        ("def rain(water, clouds, day):\n    ask('clock')", "service"),
        ("1 / 0\ndef rain(water, clouds, day):\n    pass", "ZeroDivisionError"),
    ],
)
def test_what_goes_wrong_in_a_hook_names_rule_hook_and_line(tmp_path: Path, rain: str, said: str) -> None:
    folder = well(tmp_path, rain, start="import os\nfrom heredity_guest import ask")
    with pytest.raises(
        RuleError, match=rf"(?s)well: rules\.after: the hook rain: .*({said})|well: rules\.after.*({said})"
    ):
        asked(folder)


def test_a_hook_that_failed_does_not_harm_the_next_call(tmp_path: Path) -> None:
    made = World(
        well(tmp_path, "def rain(water, clouds, day):\n    return 1 if water else os._exit(3)", start="import os")
    )
    for _ in range(2):
        with pytest.raises(HookError):
            _after(made, {**LEVEL, "water": 0})
        assert _after(made, LEVEL) == 1


def test_hooks_take_their_time_from_an_allowance(tmp_path: Path) -> None:
    made = World(well(tmp_path))
    with spending(Allowance(0.0)), pytest.raises(SlowHookError, match="more than 0 s in total; make rain faster"):
        _after(made, LEVEL)
    assert _after(made, LEVEL) >= 0


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"rain: {": "snow: {", "water + rain()": "water + snow()"}, "defines no function 'snow'; it has dig, rain"),
        ({"reads: [water, clouds, day]": "reads: [water]"}, r"rain\(water, clouds, day\) in hooks.py is given water, by name"),
        ({"rain: {": "rain: {file: sky.py, "}, "has no such file; put the function rain there"),
        ({"rain: {": "rain: {file: ../sky.py, "}, "expected to match pattern"),
        ({"rain: {": "place: {"}, "the name 'place' is taken"),
        ({"water + rain()": "water + rain(3)"}, "rain takes 0 arguments"),
        ({"dig(draw(0, 1000000), difficulty)": "rain()"}, "rain reads 'water', which is not available here"),
        ({"day += 1\n  refused": "refuse('no')\n  refused"}, "refuse comes after a change"),
        ({"takes: [seed, difficulty]": "takes: [seed, seed]"}, "seed is given twice"),
    ],
)  # fmt: skip
def test_a_wrong_hook_is_refused_when_the_world_is_read(tmp_path: Path, changed: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        World(well(tmp_path, **changed))
    (tmp_path / "well" / "hooks.py").write_text("def rain(")
    with pytest.raises(ConfigError):
        World(tmp_path / "well")


def test_reading_listing_and_describing_a_world_runs_none_of_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = tmp_path / "was-run"
    folder = well(tmp_path, start=f"open({str(marker)!r}, 'w').write('x')")
    monkeypatch.setattr(kept.Sandbox, "call", lambda *_: pytest.fail("a hook was called"))
    monkeypatch.chdir(tmp_path)
    World(folder)
    assert taskset("worlds/./well").info.kind == "world"
    assert CliRunner().invoke(app, ["worlds", "list"]).exit_code == 0
    assert not marker.exists()


def test_commands_take_a_folder_with_hooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    well(tmp_path)
    monkeypatch.chdir(tmp_path)
    for words in (["levels", "./well", "--write", "well"], ["levels", "./well", "--check"], ["show", "./well"]):
        result = CliRunner().invoke(app, ["worlds", *words])
        assert result.exit_code == 0, (words, result.output)
    played = CliRunner().invoke(app, ["worlds", "play", "./well"], input="wait\ndraw 1\n")
    assert "reward 1, in all 1" in played.output
    tasks = taskset("worlds/./well")
    assert len(tasks.draw("train", 2, 5)) == 2
    assert World(tmp_path / "well").sources["hooks.py"]
    assert _worlds(["./well,grid_treasure"]) == ("./well", "grid_treasure")
    exported = CliRunner().invoke(app, ["worlds", "export", "./well", "out", "--format", "gymnasium"])
    assert "runs there without a sandbox" in exported.output
    assert (tmp_path / "out/src/world_well_gymnasium/well/hooks.py").read_bytes() == (
        tmp_path / "well/hooks.py"
    ).read_bytes()


@pytest.mark.slow
def test_commands_with_processes_of_their_own_take_a_folder_with_hooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    well(tmp_path)
    monkeypatch.chdir(tmp_path)
    for words in (
        ["levels", "./well", "--write", "well"],
        ["verify", "./well", "--seconds", "0", "--processes", "1"],
        ["bench", "--worlds", "./well", "--agent", "reference", "--runs", "1", "--levels", "2"],
        ["admit", "./well", "--out", "out"],
    ):
        result = CliRunner().invoke(app, ["worlds", *words])
        assert result.exit_code == 0, (words, result.output)
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert certificate["seed"] > 0


def test_the_gates_ask_hooks_again_and_play_levels_that_nobody_knew(tmp_path: Path) -> None:
    made = World(well(tmp_path))
    set_shipped(made, made.make_shipped())
    admission = admit(Subject.of(made, seed=11, library={}))
    assert admission.admitted
    figures = {report.gate: report.figures for report in admission.gates}
    assert figures["execution"]["hooks_asked_again"] > 100
    assert figures["levels"]["fresh"] == 3


async def attempt(folder: Path) -> Trajectory:
    tasks = taskset(f"worlds/{folder}")
    spec = {"world": str(folder), "level": LEVEL, "bound": 10.0, "skin": "text", "id": "x"}
    task = Task("train/0", "train", 0, spec)
    model = ListedModel([f"<action>{json.dumps(WAIT)}</action>"] * 9)
    jobs = [Job(tasks.info, plain_player(), task, 0, policy_seed=3)]
    [played] = [done async for _, done in WorldRunner(model).run(jobs, Limits())]  # type: ignore[arg-type]
    return played


@pytest.mark.asyncio
@pytest.mark.parametrize("fails", ["day == 2", "day == 0"])
async def test_a_hook_that_fails_is_the_worlds_failure(tmp_path: Path, fails: str) -> None:
    rain = f"def rain(water, clouds, day):\n    return 1 // (0 if {fails} else 1)"
    played = await attempt(well(tmp_path / fails[-1], rain))
    assert (played.failure_source, played.status) == (FailureSource.ENVIRONMENT, "environment_error")
    assert played.failure is not None
    assert "ZeroDivisionError" in played.failure.message
    assert 'File "hooks.py", line 7' in played.failure.traceback


@pytest.mark.asyncio
async def test_a_sandbox_that_fails_is_the_hosts_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = well(tmp_path)
    assert World(folder).make(1, 1)

    def gone(self: kept.Sandbox, *given: Any) -> bytes:
        if b'"rain"' in given[2]:
            raise HostError("the sandbox is gone")
        return b"3"

    monkeypatch.setattr(kept.Sandbox, "call", gone)
    assert (await attempt(folder)).failure_source == FailureSource.HOST


def test_a_sandbox_that_was_killed_is_started_again(tmp_path: Path) -> None:
    one, other = (World(well(tmp_path / name)) for name in "ab")
    assert _after(one, LEVEL) == _after(other, LEVEL)
    zygote = kept.shared()._zygote
    assert zygote is not None
    os.kill(zygote._process.pid, 9)
    zygote._process.wait()
    with pytest.raises(HostError, match="the sandbox"):
        _all_waters(one)
    for made in (one, other, one):
        assert _after(made, {**LEVEL, "clouds": [1] * 8}) >= 0


def _all_waters(made: World) -> None:
    for water in range(1, 20):  # the last of its processes may answer once more
        _after(made, {**LEVEL, "water": water})
        time.sleep(0.05)


def test_many_worlds_share_the_places_of_the_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "SLOTS", 3)
    worlds = [World(well(tmp_path / str(number))) for number in range(5)]
    assert [_after(made, LEVEL) for made in worlds] == [_after(worlds[0], LEVEL)] * len(worlds)
    assert kept.shared()._live <= kept.SLOTS


def test_the_schema_for_editors_has_hooks() -> None:
    schema = json.loads(CliRunner().invoke(app, ["schema", "world"]).output)
    assert set(schema["$defs"]["Hook"]["properties"]) == set(Hook.model_fields)
    jsonschema = pytest.importorskip("jsonschema")
    yaml = pytest.importorskip("yaml")
    valid = jsonschema.Draft202012Validator(schema).is_valid
    described = yaml.safe_load(YAML)
    assert valid(described)
    described["rules"]["hooks"]["rain"]["result"] = 3
    assert not valid(described)
