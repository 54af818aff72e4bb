from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity._core import errors
from heredity._core.errors import ConfigError, HeredityError, MissingExtraError, UnknownNameError, nearest

CLASSES = [c for _, c in inspect.getmembers(errors, inspect.isclass) if c.__module__ == errors.__name__]


def test_the_module_draws_the_tree_that_there_is() -> None:
    drawn = re.findall(r"^([│├└─ ]*)(\w+Error)\b", errors.__doc__ or "", re.MULTILINE)
    above: list[str] = []
    for indent, name in drawn:
        depth = len(indent) // 4
        above[depth:] = [name]
        expected = above[depth - 1] if depth else "Exception"
        assert getattr(errors, name).__bases__[0].__name__ == expected, name
    assert {name for _, name in drawn} == {c.__name__ for c in CLASSES}


@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)
def test_every_error_says_what_it_is_and_ends_in_error(cls: type[Exception]) -> None:
    assert issubclass(cls, HeredityError)
    assert cls.__doc__
    assert cls.__name__.endswith("Error")


def test_an_unknown_name_suggests_the_nearest() -> None:
    error = UnknownNameError("method", "parametrc", ["random", "parametric", "structural"])
    assert str(error) == "unknown method 'parametrc'; did you mean parametric?"
    assert (error.name, error.suggestions) == ("parametrc", ["parametric"])
    assert isinstance(error, ConfigError)


def test_where_nothing_is_near_a_few_names_are_listed_and_many_are_not() -> None:
    error = UnknownNameError("method", "xyzzy", ["random", "grpo"])
    assert str(error) == "unknown method 'xyzzy'; known: grpo, random"
    assert error.suggestions == []
    many = UnknownNameError("method", "xyzzy", [f"method-{number}" for number in range(50)])
    assert str(many) == "unknown method 'xyzzy'; correct the name"


def test_a_missing_extra_says_what_to_install() -> None:
    error = MissingExtraError("BipedalWalker-v3", "box2d")
    assert str(error) == "BipedalWalker-v3 needs an optional dependency: pip install 'heredity[box2d]'"
    assert error.extra == "box2d"


def test_case_does_not_matter_for_what_is_near() -> None:
    assert nearest("cartpole-V1", ["CartPole-v1", "Acrobot-v1"])[0] == "CartPole-v1"


@given(st.text(max_size=8), st.lists(st.text(max_size=8), max_size=6), st.integers(1, 4))
def test_suggestions_are_known_names_and_few(name: str, names: list[str], limit: int) -> None:
    suggested = nearest(name, names, limit)
    assert set(suggested) <= set(names)
    assert len(suggested) <= limit


def test_a_folder_that_is_here_is_suggested_as_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "codez").mkdir()
    monkeypatch.chdir(tmp_path)
    assert str(UnknownNameError("launcher", "codez", ["codex"], or_path=True)).endswith(
        "; for the folder codez here, write ./codez"
    )
    for name in ("codez", "codey"):
        assert "did you mean codex?" in str(UnknownNameError("split", name, ["codex"], or_path=name == "codey"))
