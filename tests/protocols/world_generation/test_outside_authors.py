"""Agents from outside write, build, mend and admit a world, confined to their workspace."""

from __future__ import annotations

import json
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import pytest
from tests.agents.launchers.real import Real, each_real
from tests.protocols.world_generation.making import HereRunner, suite

from heredity.agents.launchers import available
from heredity.experiments.suite import SuiteResult
from heredity.kinds.world.compose.composing import compose, yaml_text
from heredity.kinds.world.compose.recipe import Recipe
from heredity.kinds.world.world import World
from heredity.library.models.world_faults import planted
from heredity.protocols.world_generation.metrics import GenerationRun

pytestmark = pytest.mark.skipif(available() is not None, reason=f"agents cannot be confined here: {available()}")

THEME = {"walled_garden": "A gardener trades melons and seed bags, whose prices drift, with a rival."}
FOUND = "feedback/submit_000/episodes/ep_000/stdout.txt"


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heredity.kinds.world.building.BuildRunner", HereRunner)


def texts() -> tuple[str, str]:
    """A world with an action that is never possible, and the same without it."""
    value: dict[str, Any] = json.loads(
        compose(Recipe(12, difficulty="1")).description.model_dump_json(exclude_defaults=True)
    )
    value["meta"]["name"] = "walled_garden"
    return planted(value, ["action that is never possible"], None)[0], yaml_text(value)  # type: ignore[arg-type]


def assert_mended_and_admitted(result: SuiteResult) -> None:
    (run,) = result.runs
    log = (result.folder / "runs" / str(run.run_id) / "logs" / "agent.log").read_text()
    assert {**result.failures, **result.evolver_failures} == {}, log
    part = run.part
    assert isinstance(part, GenerationRun), log
    assert [(build.passed, build.gates) for build in part.builds] == [(5, 6), (6, 6)], log
    assert [(row.kind, row.mended) for row in part.repairs] == [("impossible action", True)]
    assert part.admitted, part.gates
    assert World(result.folder / "library" / "walled_garden").level("test-01").upper_bound.value == 1.0


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_an_agent_from_outside_writes_builds_mends_and_admits_a_world(tmp_path: Path) -> None:
    agent = tmp_path / "agent"
    agent.mkdir()
    faulty, mended = texts()
    (agent / "faulty.yaml").write_text(faulty)
    (agent / "mended.yaml").write_text(mended)
    (agent / "start.sh").write_text(f"""
set -e
here=$(dirname "$0")
grep -q walled_garden AGENTS.md
grep -q "prices drift" TASK.md
! ls {Path(__file__).parents[3]} {tmp_path}/out 2>/dev/null
echo "# What it is" > system/design.md
cp $here/faulty.yaml system/world.yaml
heredity submit --episodes 0
grep -q "impossible action: 'dance'" {FOUND}
! grep -qi "reliability\\|novelty" {FOUND}
cp $here/mended.yaml system/world.yaml
heredity submit --episodes 0
heredity finish
""")
    assert_mended_and_admitted(suite(tmp_path / "out" / "s", THEME, evolver={"launcher": str(agent)}, gateway={}))


def edits_of(before: str, after: str) -> list[tuple[str, str]]:
    """Return what is to be replaced by what, each with the line before it."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    changed = [code for code in SequenceMatcher(None, old, new).get_opcodes() if code[0] != "equal"]
    return [("".join(old[i - 1 : j]), old[i - 1] + "".join(new[k:m])) for _, i, j, k, m in changed]


@pytest.mark.slow
@each_real
def test_a_real_coding_agent_writes_builds_mends_and_admits_a_world(real: Real, tmp_path: Path) -> None:
    faulty, mended = texts()
    turns = [
        real.shell("head -c 300 AGENTS.md; cat TASK.md; rm -f system/world.yaml"),
        real.write("system/world.yaml", faulty),
        real.shell("heredity submit --episodes 0"),
        real.shell(f"cat {FOUND}"),
        *real.edit("system/world.yaml", edits_of(faulty, mended)),
        real.shell("heredity submit --episodes 0"),
        real.shell("heredity finish"),
    ]
    evolver = {"launcher": real.launcher, "model": real.driven_by(turns, tmp_path), "time_limit_s": 500}
    assert_mended_and_admitted(suite(tmp_path / "out" / "s", THEME, evolver=evolver, gateway={}))
