"""The models of results: what they refuse, how they are read back, and that the documentation lists every key."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from heredity.analysis.suite_results import suite_results
from heredity.errors import RecordError
from heredity.protocols.agent_learning.metrics import METRICS
from heredity.protocols.agent_learning.results import LearningSuite
from heredity.results.base import Result, read, with_part
from heredity.results.run import Gain, RunResults, Verdict
from heredity.results.suite import SuiteResults

DOCS = Path(__file__).parents[2] / "docs" / "file-formats.md"


def documented(title: str) -> dict[str, Any]:
    text = DOCS.read_text(encoding="utf-8").split(f"## metrics.json of {title}\n")[1]
    return json.loads(text.split("```json\n")[1].split("```")[0])


def models_in(annotation: Any) -> list[type[Result]]:
    if isinstance(annotation, type) and issubclass(annotation, Result):
        return [annotation]
    return [model for argument in get_args(annotation) for model in models_in(argument)]


def compare(model: type[Result], example: Any, where: str) -> None:
    while isinstance(example, list):
        example = example[0]
    if "…" not in example:
        assert set(example) == set(model.model_fields), where
    for name in set(example) & set(model.model_fields):
        annotation = model.model_fields[name].annotation
        nested = models_in(annotation)
        if nested and example[name] and "dict" not in str(annotation) and nested != [Result]:
            compare(nested[0], example[name], f"{where}.{name}")


@pytest.mark.parametrize(("title", "model"), [("a run", RunResults), ("a suite", SuiteResults)])
def test_the_documentation_lists_exactly_the_keys_of_the_models(title: str, model: type[Result]) -> None:
    compare(model, documented(title), title)


def test_the_documented_part_of_agent_learning_is_its_model() -> None:
    part = re.search(r"```json\n(\{\n  \"learning\".*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert part is not None
    compare(LearningSuite, json.loads(part[1]), "learning")


def test_results_are_read_back_as_they_were_with_the_part_of_their_protocol() -> None:
    suite = suite_results([], lambda protocol: METRICS)
    written = json.loads(json.dumps(suite.model_dump(mode="json")))
    back = read(written, SuiteResults, METRICS.suite_part)
    assert back.part == suite.part == LearningSuite(board=[], learning=None, skins=[])
    assert back.model_dump() == suite.model_dump()


@pytest.mark.parametrize("version", [1, 2, 3])
def test_results_of_an_earlier_version_are_refused_with_what_to_do(version: int) -> None:
    with pytest.raises(
        RecordError, match=rf"version {version}: this version of heredity reads 4; make it again with `heredity report`"
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
