"""The models of results: what they refuse, how they are read back, and that each is described."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from heredity._core.errors import RecordError
from heredity.analysis.suite_results import suite_results
from heredity.cli.catalogue import card_schema, config_schema, journal_schema, results_schema
from heredity.protocols.agent_learning.protocol import METRICS
from heredity.protocols.agent_learning.results import LearningSuite
from heredity.results.base import SCHEMA_VERSION, Result, read, with_part
from heredity.results.run import Gain, RunResults, Verdict
from heredity.results.suite import SuiteResults

DOCS = Path(__file__).parents[2] / "docs" / "file-formats.md"


@pytest.mark.parametrize("schema", [results_schema, journal_schema, config_schema, card_schema])
def test_every_part_of_a_schema_is_described(schema: Callable[[], dict[str, Any]]) -> None:
    parts = schema()["$defs"]
    assert [name for name, part in parts.items() if not part.get("description", "").strip()] == []


def names_in(model: type[Result], seen: set[type[Result]]) -> set[str]:
    seen.add(model)
    names = set(model.model_fields)
    for field in model.model_fields.values():
        for nested in models_in(field.annotation):
            names |= names_in(nested, seen) if nested not in seen else set()
    return names


def models_in(annotation: Any) -> list[type[Result]]:
    if isinstance(annotation, type) and issubclass(annotation, Result):
        return [annotation]
    return [model for argument in get_args(annotation) for model in models_in(argument)]


@pytest.mark.parametrize(
    ("opening", "models"), [(r"\[The keys\]", [RunResults]), ("A suite's file ", [SuiteResults, LearningSuite])]
)
def test_the_keys_that_the_documentation_explains_exist(opening: str, models: list[type[Result]]) -> None:
    (text,) = re.findall(rf"^{opening}.*?\n\n((?:- .*\n)+)", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    known = set[str]().union(*(names_in(model, set()) for model in models))
    leading = [key for line in text.splitlines() for key in re.findall(r"^- `([a-z_]+)`|^- `[a-z_]+\.([a-z_]+)`", line)]
    keys = {key for pair in leading for key in pair if key}
    assert len(keys) > 3
    assert keys - known == set()


def test_the_documentation_names_the_version_that_is_written() -> None:
    assert f"Version {SCHEMA_VERSION}; earlier ones are refused" in DOCS.read_text(encoding="utf-8")


def test_results_are_read_back_as_they_were_with_the_part_of_their_protocol() -> None:
    suite = suite_results([], lambda protocol: METRICS)
    written = json.loads(json.dumps(suite.model_dump(mode="json")))
    back = read(written, SuiteResults, METRICS.suite_part)
    assert back.part == suite.part == LearningSuite(board=[], learning=None, skins=[])
    assert back.model_dump() == suite.model_dump()


@pytest.mark.parametrize("version", [1, 2, 3])
def test_results_of_an_earlier_version_are_refused_with_what_to_do(version: int) -> None:
    with pytest.raises(
        RecordError, match=rf"version {version}: this version of heredity reads 4; rebuild it with `heredity report`"
    ):
        read({"schema_version": version, "run_id": "x"}, RunResults)


def test_a_key_that_is_not_known_is_refused_by_name() -> None:
    written = suite_results([]).model_dump(mode="json")
    with pytest.raises(RecordError, match="unknown key meen; known keys"):
        read({**written, "meen": 1.0}, SuiteResults)


def test_the_json_schema_holds_the_part_of_a_protocol() -> None:
    schema = with_part(SuiteResults, LearningSuite).model_json_schema()
    assert {"SkinComparison", "LearningSpace", "Entry"} <= set(schema["$defs"])


def test_a_figure_is_never_nan_and_never_changed() -> None:
    gain = Gain(difference=0.5, ci=None, p=None, mde=None, pairs=3, verdict=Verdict.WITHIN_NOISE)
    with pytest.raises(ValidationError):
        gain.difference = 0.7
    with pytest.raises(ValidationError):
        Gain(difference=float("nan"), ci=None, p=None, mde=None, pairs=3, verdict=Verdict.WITHIN_NOISE)
