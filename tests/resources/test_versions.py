from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.resources import Draft, Manifest, Number, SourceTree, Store, Version

NUMBERS = st.builds(Number, *[st.integers(0, 999_999_999)] * 3)
PLAIN_JSON = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5) | st.none(), max_size=3)


@given(NUMBERS, st.sampled_from(["major", "minor", "patch"]))
def test_the_next_number_is_higher_and_survives_its_text(number: Number, part: str) -> None:
    assert Number.parse(str(number)) == number
    assert number.next(part) > number


@pytest.mark.parametrize("text", ["1.0", "01.0.0", "1.0.0-rc1", "v1.0.0", "", "1.0.0\n", "-1.0.0", "1.0.1000000000"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="three numbers"):
        Number.parse(text)


def test_an_unknown_part_of_a_number_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean minor"):
        Number(1, 0, 0).next("minr")


@given(st.text(max_size=9), st.booleans(), PLAIN_JSON, PLAIN_JSON, st.text(max_size=9))
def test_a_version_survives_json(
    description: str, evolvable: bool, metadata: dict[str, object], parameters: dict[str, object], note: str
) -> None:
    manifest = Manifest(description, evolvable, metadata, parameters, pins={"prompt/a": "1.0.0"})
    draft = Draft("memory", "m", SourceTree({"a": "b"}), manifest, note)
    version = Version.of(draft, Number(1, 2, 3), ("0" * 64,))
    assert Version.from_json(version.to_json()) == version
    assert Version.from_json(version.to_json()).digest == version.digest


def test_a_manifest_refuses_unknown_keys_and_what_is_no_json() -> None:
    with pytest.raises(UnknownNameError, match="did you mean description"):
        Manifest.from_json({"descripton": "x"})
    with pytest.raises(ConfigError, match="metadata must be a JSON object"):
        Manifest(metadata={"a": float("nan")})
    with pytest.raises(ConfigError, match=r"description .* cannot be stored as text"):
        Manifest("\ud800")
    with pytest.raises(ConfigError, match=r"note .* cannot be stored as text"):
        Draft("prompt", "p", SourceTree({}), note="\ud800")
    with pytest.raises(UnknownNameError, match="did you mean prompt"):
        Manifest(pins={"promt/a": "1.0.0"})


def test_what_a_caller_changes_later_does_not_change_a_manifest() -> None:
    given: dict[str, list[int]] = {"tried": [1]}
    manifest = Manifest(metadata=given)
    given["tried"].append(2)
    assert manifest.metadata == {"tried": [1]}


STEP = st.tuples(st.sampled_from(["put", "restore", "branch"]), st.integers(0, 99), st.sampled_from(["main", "side"]))
COUNT = itertools.count()


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STEP, max_size=8))
def test_history_only_grows_and_every_parent_is_the_head_it_was_made_from(
    tmp_path: Path, steps: list[tuple[str, int, str]]
) -> None:
    with Store(tmp_path / f"{next(COUNT)}.db") as store:
        first = store.put(Draft("prompt", "p", SourceTree({"prompt.md": "0"})), new=True)
        heads, made = {"main": first}, [first]
        for i, (action, choice, branch) in enumerate(steps, 1):
            if action == "put" and branch in heads:
                version = store.put(Draft("prompt", "p", SourceTree({"prompt.md": str(i)})), branch=branch)
                assert version.parents == (heads[branch].digest,)
                assert version.number > made[-1].number
                made.append(version)
            else:
                version = store.move("prompt", "p", made[choice % len(made)].number, branch=branch)
            heads[branch] = version
            assert store.list("prompt", "p") == made
            assert store.branches("prompt", "p") == {b: v.digest for b, v in heads.items()}
        assert store.check() == []
