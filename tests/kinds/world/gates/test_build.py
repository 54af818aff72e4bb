"""Builds: files become a world with levels, or a finding says why not; planted faults meet their gates."""

from __future__ import annotations

import base64
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.kinds.world.dsl.wells import RAIN, well

from heredity._core.errors import HeredityError, IsolationError
from heredity._core.ids import generator
from heredity.kinds.world.build_worker import answer
from heredity.kinds.world.compose.composing import compose, yaml_text
from heredity.kinds.world.compose.recipe import Recipe
from heredity.kinds.world.dsl import hooks
from heredity.kinds.world.gates.build import MAX_FILES, SHOWN, Built, build
from heredity.library.models.world_faults import FAULTS, planted
from heredity.sandbox import isolation
from heredity.sandbox import zygote as kept


@pytest.fixture
def confined() -> None:
    try:
        isolation.resolve()
    except HeredityError:
        pytest.skip("programs cannot be confined on this machine")


@cache
def sound(seed: int = 12) -> dict[str, Any]:
    value = json.loads(compose(Recipe(seed, difficulty="1")).description.model_dump_json(exclude_defaults=True))
    return {**value, "meta": {**value["meta"], "name": "mine"}}


def text(**changes: Any) -> bytes:
    return yaml_text({**sound(), **changes}).encode()


def kinds(built: Built) -> set[tuple[str, str]]:
    return {(report.gate, finding.kind) for report in built.reports for finding in report.findings}


def test_a_sound_world_passes_what_is_shown_and_has_levels() -> None:
    built = build({"world.yaml": text(), "design.md": b"a page"}, "mine", 7, SHOWN)
    assert kinds(built) == set()
    assert [report.gate for report in built.reports] == list(SHOWN)
    assert len(json.loads(built.levels)["test"]) == 10
    assert built.certificate is None, "a part of the gates certifies nothing"
    assert built == build({"world.yaml": text(), "design.md": b"a page"}, "mine", 7, SHOWN)


def test_all_gates_leave_a_certificate() -> None:
    built = build({"world.yaml": text()}, "mine", 7)
    assert built.certificate is not None
    assert (built.certificate["admitted"], built.certificate["seed"]) == (True, 7)


@pytest.mark.parametrize(
    ("files", "kind", "said"),
    [
        ({}, "files", "world.yaml is missing"),
        ({"world.yaml": b""}, "files", "is missing or empty"),
        ({"world.yaml": b" \n"}, "files", "is missing or empty"),
        ({"world.yaml": text(), "dynamics.py": b"import os"}, "files", "dynamics.py cannot be a hook"),
        ({"world.yaml": text(), "sub/hook.py": b""}, "files", "cannot be a hook"),
        ({"world.yaml": text(), "levels.json": b"{}"}, "files", "levels.json"),
        ({"world.yaml": text(), "levels.json/x": b"{}"}, "files", "levels.json"),
        ({"world.yaml": text(), **{f"{n}.md": b"" for n in range(MAX_FILES)}}, "files", "at most"),
        ({"world.yaml": b"#" * (2 << 20)}, "files", "at most"),
        ({"world.yaml": b"\xff\x00"}, "schema", "not UTF-8"),
        ({"world.yaml": b"a: &a [*a]\n"}, "schema", ""),
        ({"world.yaml": b"- a list"}, "schema", "world.yaml"),
        ({"world.yaml": text(rules=None)}, "rules", "neither dynamics.py nor"),
        ({"world.yaml": text(meta={**sound()["meta"], "name": "../../mine"})}, "name", "name it mine"),
    ],
)
def test_what_is_no_world_is_told_so(files: dict[str, bytes], kind: str, said: str) -> None:
    built = build(files, "mine", 7, SHOWN)
    (finding,) = built.reports[0].findings
    assert (len(built.reports), finding.kind, built.levels) == (1, kind, "")
    assert said in finding.message
    assert "/tmp" not in finding.message, "where it was built is nobody's business"


@pytest.mark.parametrize(
    "kind", ["unknown variable", "action that is never possible", "value without a place", "pay on the way"]
)
def test_a_planted_fault_meets_its_gate(kind: str) -> None:
    faulty, fits = planted(sound(), [kind], generator(0, kind))
    assert fits == [kind]
    assert kinds(build({"world.yaml": faulty.encode()}, "mine", 7, SHOWN)) & set(FAULTS[kind].meets)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 3, 4, 11, 12, 13])
@pytest.mark.parametrize("kind", FAULTS)
def test_every_kind_of_fault_meets_its_gate(kind: str, seed: int) -> None:
    faulty, fits = planted(sound(seed), [kind], generator(0, kind))
    if not fits:
        pytest.skip("there is no room for it")
    hidden = "reliability" in {gate for gate, _ in FAULTS[kind].meets}
    built = build({"world.yaml": faulty.encode()}, "mine", 7, (*SHOWN, "reliability") if hidden else SHOWN)
    assert kinds(built) & set(FAULTS[kind].meets)


def well_files(place: Path, rain: str = RAIN, **changed: str) -> dict[str, bytes]:
    """A world with hooks as its author writes it."""
    folder = well(place, rain, **{"name: well": "name: mine", **changed})
    return {name: (folder / name).read_bytes() for name in ("world.yaml", "hooks.py")}


@pytest.mark.slow
def test_a_world_with_hooks_is_built_and_meets_all_gates(tmp_path: Path, confined: None) -> None:
    built = build(well_files(tmp_path), "mine", 7)
    assert built.certificate is not None
    assert built.certificate["admitted"], kinds(built)
    figures = {report.gate: report.figures for report in built.reports}
    assert figures["levels"]["fresh"] == 3, "levels of seeds that nobody knew"
    assert figures["execution"]["hooks_asked_again"] > 0


def test_hooks_of_an_author_never_run_in_this_process(tmp_path: Path, confined: None) -> None:
    marker = tmp_path / "was-run"
    start = f"try:\n    open({str(marker)!r}, 'w').write('x')\nexcept OSError:\n    pass\n"
    built = build(well_files(tmp_path, f"{start}{RAIN}"), "mine", 7, ("format",))
    assert kinds(built) == set()
    assert not marker.exists()


def test_a_hook_that_no_rule_can_call_is_a_finding(tmp_path: Path, confined: None) -> None:
    files = well_files(tmp_path)
    assert kinds(build({"world.yaml": files["world.yaml"]}, "mine", 7)) == {("build", "rules")}
    wrong = {
        **files,
        "hooks.py": b"def rain(water, clouds, day):\n    return 1\n\ndef dig(seed, difficulty):\n    return 1 / 0\n",
    }
    built = build(wrong, "mine", 7)
    assert kinds(built) == {("build", "levels")}
    assert "ZeroDivisionError: division by zero (hooks.py, line 5)" in built.reports[0].findings[0].message


def test_a_machine_that_confines_nothing_says_nothing_of_a_world(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unable() -> None:
        raise IsolationError("this machine confines nothing")

    monkeypatch.setattr(isolation, "resolve", unable)
    monkeypatch.setattr(kept, "shared", kept.Sandbox)
    monkeypatch.setattr(hooks, "shared", kept.Sandbox)
    with pytest.raises(IsolationError):
        build(well_files(tmp_path), "mine", 7)
    files = {name: base64.b64encode(data).decode() for name, data in well_files(tmp_path).items()}
    said = answer({"files": files, "world": "mine", "seed": 7, "gates": ["format"], "seconds": 60.0})
    assert said == {"host": "this machine confines nothing"}
