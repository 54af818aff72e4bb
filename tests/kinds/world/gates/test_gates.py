"""Gates: sound worlds pass, worlds with one fault do not, and what is found can be played again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from heredity.bench.attempts import RULES
from heredity.kinds.world.commands.worlds import app
from heredity.kinds.world.gates.admit import GATES, Admission, admit
from heredity.kinds.world.gates.contract import PATIENCE, Findings, Subject, files_digest
from heredity.kinds.world.gates.mutants import KINDS, UnfitError, mutant, set_shipped
from heredity.kinds.world.gates.novelty import STORED, fingerprint, novelty, of_library, rounded, stored_text
from heredity.kinds.world.gates.plays import Greedy
from heredity.kinds.world.gates.states import clocks, state_key
from heredity.kinds.world.verify import plain_actions
from heredity.kinds.world.world import World, world, world_names

SLOW = ("near copy",)
"""Kinds whose gate needs the whole library."""


def judged(made: World, *, library: tuple[str, ...] = (), patience: float = PATIENCE, first: bool = True) -> Admission:
    return admit(Subject.of(made, patience=patience, library={name: world(name) for name in library}), first=first)


def test_a_sound_world_passes_every_gate_the_same_way_every_time() -> None:
    one, again = (judged(world("field_probe"), library=("field_probe", "gear_train"), first=False) for _ in range(2))
    assert one.admitted
    assert [report.gate for report in one.gates] == list(GATES)
    assert one.to_json() == again.to_json()
    assert [report.figures["nearest"] for report in one.gates if report.gate == "novelty"] == ["gear_train"]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in SLOW and kind not in ("hang", "grows")])
@pytest.mark.fast(12)
def test_a_world_with_a_fault_is_rejected(kind: str) -> None:
    for name in ("crystal_lab", "field_probe", "hooded_ball", "satellite_bays"):
        try:
            made = mutant(world(name), kind, 1)
        except UnfitError:
            continue
        assert not judged(made).admitted
        return
    pytest.fail(f"{kind} fits none of these worlds")


def test_a_world_that_hangs_is_interrupted_and_no_other_gate_is_executed() -> None:
    admission = judged(mutant(world("field_probe"), "hang", 1), patience=0.2, first=False)
    finding = admission.gates[-1].findings[-1]
    assert (finding.kind, len(admission.gates) < len(GATES), admission.admitted) == ("hang", True, False)
    assert finding.level
    assert finding.actions


def test_what_a_gate_found_happens_again_when_its_trace_is_played() -> None:
    made = mutant(world("crystal_lab"), "crash at depth", 5)
    finding = next(f for report in judged(made).gates for f in report.findings if f.kind == "crash")
    episode = made.start(made.level(finding.level).data)
    for action in finding.actions[:-1]:
        episode.step(action)
    with pytest.raises(IndexError):
        episode.step(finding.actions[-1])


@pytest.mark.parametrize("name", ["grid_treasure", "shifting_pairs"])
def test_a_world_written_again_in_rules_is_known_as_the_twin_of_its_original(name: str) -> None:
    twin = World((RULES / name).resolve())
    set_shipped(twin, twin.make_shipped())
    findings = Findings()
    library = {other: world(other) for other in (name, "gear_train", "crystal_lab", "field_probe", "hooded_ball")}
    figures = novelty(Subject.of(twin, library=library), findings)
    assert (figures["nearest"], "near copy" in findings) == (name, True)
    assert "near copy" not in (own := Findings())
    assert novelty(Subject.of(world(name), library=library), own)
    assert "near copy" not in own


def test_states_are_equal_by_value_and_what_only_counts_steps_is_a_clock() -> None:
    made = world("crystal_lab")
    one, other = (made.start(made.level("test-01").data) for _ in range(2))
    assert state_key(one.state) == state_key(other.state)
    assert one.step(made.levels.solve(made.level("test-01").data)[0]).refused is False
    assert state_key(one.state) != state_key(other.state)
    quakes = world("tile_quakes")
    start = quakes.start(quakes.level("test-01").data)
    before = state_key(start.state)
    ticking = clocks(start, [{"action": "wait"}] * 4)
    assert state_key(start.state) == before
    assert "t" in {path[-1] for path in ticking}


@pytest.mark.slow
def test_the_command_writes_a_certificate_and_rejects_a_twin(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["admit", "field_probe", "--out", str(tmp_path), "--json"])
    certificate = json.loads((tmp_path / "certificate.json").read_text(encoding="utf-8"))
    assert result.exit_code == 0
    assert json.loads(result.stdout) == certificate
    assert certificate["admitted"]
    folder = tmp_path / "shifting_pairs"
    shutil.copytree(RULES / "shifting_pairs", folder)
    rejected = CliRunner().invoke(app, ["admit", str(folder)])
    assert rejected.exit_code == 1
    assert "it behaves like shifting_pairs" in rejected.stdout
    gates = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))["gates"]
    assert [gate["gate"] for gate in gates if not gate["passed"]] == ["novelty"]


@pytest.mark.parametrize(
    ("file", "remedy"), [("env_main.py", "has no action_space.txt"), ("dynamics.py", "install its package")]
)
def test_folders_that_cannot_be_admitted_are_refused_with_what_to_do(tmp_path: Path, file: str, remedy: str) -> None:
    (tmp_path / file).write_text("raise SystemExit\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["admit", str(tmp_path)])
    assert result.exit_code != 0
    assert remedy in str(result.exception)


def test_the_stored_fingerprints_are_of_the_worlds_as_they_are() -> None:
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    assert {name: row["digest"] for name, row in stored.items()} == {
        n: files_digest(world(n)) for n in world_names()
    }, (
        "write them anew: python -c 'from heredity.kinds.world.gates import novelty as n; n.STORED.write_text(n.stored_text())'"
    )
    taken = rounded(fingerprint(Subject.of(world("field_probe"), library={})))
    assert of_library("field_probe") == stored["field_probe"]["fingerprint"] == pytest.approx(taken)


@pytest.mark.slow
def test_every_stored_fingerprint_is_what_is_taken_anew() -> None:
    anew = json.loads(stored_text())
    for name, row in json.loads(STORED.read_text(encoding="utf-8")).items():
        assert row["fingerprint"] == pytest.approx(anew[name]["fingerprint"]), name


def test_a_greedy_player_takes_what_pays_most_in_one_step() -> None:
    made = world("composed-12-accumulative-full")
    level = made.level("test-01")
    greedy = Greedy(made.description, np.random.default_rng(1))
    episode = made.start(level.data)
    while not episode.done:
        action = greedy(episode)
        pays = [episode.copy().step(other).reward for other in plain_actions(made.description)]
        assert episode.copy().step(action).reward == max(pays)
        episode.step(action)
