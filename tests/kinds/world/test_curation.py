from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

import heredity
from heredity._core.errors import ConfigError
from heredity.kinds.world.commands.worlds import app
from heredity.kinds.world.curation import AXES, Candidate, candidate, capabilities, curate, lines_of, table_1
from heredity.kinds.world.gates.admit import CERTIFICATE
from heredity.kinds.world.gates.contract import Subject, files_digest
from heredity.kinds.world.gates.plays import PLAYERS
from heredity.kinds.world.world import World, descriptions, world

RULES = Path(heredity.__file__).parent / "library" / "rules"
MEANS = {"random": 0.1, "greedy": 0.2, "search-little": 0.3, "search-much": 0.4, "solution": 1.0}


def known(name: str, means: Mapping[str, float] = MEANS, print_: float = 0.0) -> Candidate:
    return Candidate(name, world(name), means, {"figure": print_}, world(name).description.meta.capabilities)


def pool() -> list[Candidate]:
    return [known(name, print_=float(number)) for number, name in enumerate(descriptions())]


def test_worlds_that_are_too_easy_or_too_hard_are_out_and_it_is_said_why() -> None:
    easy, hard = {**MEANS, "greedy": 0.95}, {**MEANS, "search-much": -0.2}
    given = [known("grid_treasure", easy), known("valley_farm", hard), known("old_chart")]
    curation = curate(given, 36)
    assert [one.world_name for one in curation.chosen] == ["old_chart"]
    assert curation.out["grid_treasure"].startswith("too easy: 0.95 of the bounds without a plan")
    assert curation.out["valley_farm"].startswith("too hard: the strongest search gets -0.20")
    assert not curate(given, 36, easy=1.0, hard=-1.0).out
    assert len(curate([known("old_chart")], 36, hard=0.5).out) == 1


def test_what_is_taken_is_as_even_as_the_pool_allows_and_does_not_depend_on_its_order() -> None:
    curation = curate(pool(), 12)
    for axis, values in AXES.items():
        assert [sum(one.value(axis) == value for one in curation.chosen) for value in values] == [6, 6], axis
    again = curate(pool()[::-1], 12)
    assert [one.world_name for one in again.chosen] == [one.world_name for one in curation.chosen]
    assert len(curation.left) == len(pool()) - 12


def test_among_equals_the_one_that_behaves_most_unlike_the_others_is_taken() -> None:
    alike = [
        name
        for name, said in descriptions().items()
        if (said.meta.reward, said.meta.observation) == ("binary", "partial")
    ]
    alike = [name for name in alike if descriptions()[name].meta.semantics == "aligned"][:3]
    given = [known(name, print_=figure) for name, figure in zip(alike, (0.0, 0.1, 5.0), strict=True)]
    assert [one.world_name for one in curate(given, 2).chosen] == [alike[0], alike[2]]


def test_table_1_counts_columns_and_averages_actions_and_lines() -> None:
    worlds = pool()
    table = table_1(worlds)
    assert table["all"]["count"] == len(worlds) == table["binary"]["count"] + table["accumulative"]["count"]
    assert table["full"]["count"] + table["partial"]["count"] == table["all"]["count"]
    actions = [len(one.world.description.actions) for one in worlds if one.value("semantics") == "inverse"]
    assert table["inverse"]["actions"] == pytest.approx(sum(actions) / len(actions), abs=0.01)
    assert lines_of(world("grid_treasure")) > 100
    assert table_1([])["all"] == {"count": 0, "ratio": 0.0, "actions": None, "lines": None}


def test_capabilities_are_found_from_how_a_state_behaves() -> None:
    capabilities_found = {
        name: capabilities(Subject.of(world(name), library={}), MEANS) for name in ("grid_treasure", "alien_colony")
    }
    assert "navigation" in capabilities_found["grid_treasure"]
    assert "memory" in capabilities_found["grid_treasure"]
    assert "control" in capabilities_found["alien_colony"]
    assert "navigation" not in capabilities_found["alien_colony"]
    assert "inversion" in capabilities_found["alien_colony"]
    flat = capabilities(Subject.of(world("grid_treasure"), library={}), {**MEANS, "greedy": 0.9})
    assert "planning" not in flat


def test_a_pool_of_folders_is_read_with_its_certificates(tmp_path: Path) -> None:
    for name in ("sound", "stale", "bare"):
        (tmp_path / name).mkdir()
        text = (RULES / "field_probe" / "world.yaml").read_text().replace("field_probe", name)
        (tmp_path / name / "world.yaml").write_text(text)
        (tmp_path / name / "levels.json").write_bytes((world("field_probe").folder / "levels.json").read_bytes())
    for name in ("sound", "stale"):
        made = World(tmp_path / name)
        certificate = {
            "admitted": True,
            "digest": files_digest(made) if name == "sound" else "0",
            "gates": [{"gate": "reliability", "figures": {"means": MEANS}}],
        }
        (tmp_path / name / CERTIFICATE).write_text(json.dumps(certificate))
    result = CliRunner().invoke(app, ["curate", str(tmp_path), "--size", "1", "--json"])
    assert result.exit_code == 0, result.output
    value = json.loads(result.stdout)
    [row] = value["worlds"]
    assert row["world"] == str(tmp_path / "sound")
    assert row["means"] == MEANS
    assert "other files" in value["out"][str(tmp_path / "stale")]
    assert "certificate.json cannot be read: No such file" in value["out"][str(tmp_path / "bare")]
    text = CliRunner().invoke(app, ["curate", str(tmp_path)]).output
    for words in ("1 of 36 worlds", "Table 1", "Table A6", "Table A7", "gives 1 of the 36 requested worlds"):
        assert words in text
    assert CliRunner().invoke(app, ["curate", str(tmp_path / "bare")]).exit_code == 1, "not one world was chosen"


def test_a_pool_that_is_none_and_shares_out_of_order_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for arguments, words in (
        (["./nothing"], "has no folder"),
        (["old_chart", "--easy", "0.1", "--hard", "0.2"], "hard below easy"),
    ):
        result = CliRunner().invoke(app, ["curate", *arguments])
        assert isinstance(result.exception, ConfigError)
        assert words in str(result.exception)


@pytest.mark.slow
def test_players_are_asked_where_no_certificate_says_what_they_got() -> None:
    one, same = (candidate("field_probe", world("field_probe")) for _ in range(2))
    assert (one.means, one.fingerprint, one.capabilities_found) == (
        same.means,
        same.fingerprint,
        same.capabilities_found,
    )
    assert tuple(one.means) == PLAYERS
    assert one.means["solution"] == 1.0
    assert all(low <= high + 0.05 for low, high in itertools.pairwise(one.means[name] for name in PLAYERS[1:]))
