"""Annotating a run: every rollout once, beside the record, whoever labels."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError, DamagedRecordError, ProviderError
from heredity.experiments.results import rebuild_run
from heredity.pages.report.sections import annotation_sections
from heredity.protocols.harness_evolution.annotation import (
    ANNOTATIONS,
    Rollout,
    annotate,
    by_rules,
    judge_of,
    read_annotations,
    read_rules,
)
from heredity.results.page import Table

from .harness_runs import config, contents, events, ran
from .sample import heredity, isolated

pytest.importorskip("reasoning_gym")
pytestmark = pytest.mark.skipif(not isolated(), reason="programs cannot be confined on this machine")


@pytest.fixture
def run(evolved: Path) -> Path:
    (evolved / ANNOTATIONS).unlink(missing_ok=True)
    return evolved


@pytest.fixture(scope="module")
def evolved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("annotated") / "runs" / "h"
    ran(folder, config())
    (run_folder,) = (folder / "runs").iterdir()
    return run_folder


def labelled(run: Path, *views: str) -> Any:
    return asyncio.run(annotate(run, *by_rules(read_rules()), views))


def test_every_attempt_gets_a_label_and_nothing_else_changes(run: Path) -> None:
    before, metrics = contents(run), rebuild_run(run)
    annotation = labelled(run)
    judged = events(run, "snapshot.assessed")
    trained = events(run, "submission.completed")
    rollouts = sum(len(e["tasks"]) for e in judged) + sum(len(e["outcomes"]) for e in trained)
    assert len(annotation.rows) == annotation.asked == rollouts
    after = contents(run)
    assert after.pop(str(run / ANNOTATIONS))
    assert after.keys() == before.keys()
    assert after[str(run / "journal.jsonl")] == before[str(run / "journal.jsonl")]
    assert rebuild_run(run) == metrics
    assert set(annotation.counts["rules"]) == {"train", "update_validation", "id", "ood", "replay"}
    assert annotation.counts["rules"]["id"]["A_T"] == {"solved": 6}
    assert list(annotation.counts["rules"]["train"]) == ["batch 1", "batch 2"]


def test_what_was_labelled_is_kept_and_other_views_stay(run: Path) -> None:
    first = labelled(run, "id")
    assert {row["view"] for row in first.rows} == {"id"}
    again = labelled(run)
    assert again.asked == len(again.rows) - len(first.rows)
    assert labelled(run, "replay").rows == again.rows
    assert read_annotations(run) == again.rows
    (run / ANNOTATIONS).unlink()
    assert labelled(run).rows == again.rows


def test_a_view_that_does_not_exist_is_named(run: Path) -> None:
    with pytest.raises(ConfigError, match="has no rollouts of heldout; its views are train, "):
        labelled(run, "heldout")


def test_a_model_judges_within_the_labels_and_its_usage_is_said(run: Path, tmp_path: Path) -> None:
    answers = tmp_path / "judge.toml"
    answers.write_text(
        '[[rule]]\nwhen = {user = \'"solved": true\'}\nreply = \'{"label": "solved", "why": "it is right"}\'\n'
        "[[rule]]\nwhen = {user = 'lcm|LCM|Least'}\nreply = 'Well: {\"label\": \"wrong result\"}'\n"
        '[[rule]]\nreply = \'{"label": "bad luck", "why": "who knows"}\'\n'
    )
    done = heredity("annotate", run, "--judge", f"scripted/{answers}", "--view", "replay", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    rows = read_annotations(run)
    assert report["runs"][0]["asked"] == len(rows) == 8
    assert {row["label"] for row in rows} == {"solved", "wrong result", "other"}
    assert next(row["why"] for row in rows if row["label"] == "other").startswith(
        "the judge returned an unknown label, 'bad luck'"
    )
    (account,) = report["usage"]
    assert account["calls"] == 8
    assert account["usage"]["input_tokens"] > 0
    again = json.loads(heredity("annotate", run, "--judge", f"scripted/{answers}", "--view", "replay", "--json").stdout)
    assert (again["runs"][0]["asked"], again["usage"]) == (0, [])
    labelled(run, "replay")
    assert {row["by"].partition(":")[0] for row in read_annotations(run)} == {"judge", "rules"}
    (section,) = annotation_sections(run)
    titles = [part.caption for part in section.parts if isinstance(part, Table)]
    assert titles == [f"Labels by judge:scripted/{answers}: replay", "Labels by rules: replay"]


def test_a_judge_that_fails_loses_no_label_that_it_gave(run: Path) -> None:
    given: list[str] = []

    async def tiring(rollout: Rollout) -> tuple[str, str]:
        if len(given) == 3:
            raise ProviderError("rate_limit", "come back later", transient=True)
        given.append(rollout.task)
        return "solved", ""

    with pytest.raises(ProviderError):
        asyncio.run(annotate(run, "judge:x/y:1", tiring))
    assert len(read_annotations(run)) == 3
    given.clear()

    async def patient(rollout: Rollout) -> tuple[str, str]:
        given.append(rollout.task)
        return "solved", ""

    annotation = asyncio.run(annotate(run, "judge:x/y:1", patient, concurrent=4))
    assert len(given) == len(annotation.rows) - 3


def test_an_answer_that_is_no_json_is_a_label_of_its_own(run: Path, tmp_path: Path) -> None:
    answers = tmp_path / "judge.toml"
    answers.write_text('[[rule]]\nreply = "I would rather not."\n')

    async def asked() -> Any:
        async with judge_of(run, f"scripted/{answers}", read_rules()) as (by, label, _):
            return await annotate(run, by, label, ["id"])

    rows = asyncio.run(asked()).rows
    assert {row["label"] for row in rows} == {"other"}
    assert "I would rather not" in rows[0]["why"]


def test_damaged_trajectories_are_reported(evolved: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(evolved, copy)
    (event, *_) = events(copy, "snapshot.assessed")
    (copy / "blobs" / event["blob"][:2] / event["blob"]).write_bytes(b"")
    with pytest.raises(DamagedRecordError):
        labelled(copy)


def test_a_run_that_was_not_annotated_has_no_tables(run: Path) -> None:
    assert annotation_sections(run) == []
    (run / ANNOTATIONS).write_text("{")
    assert annotation_sections(run) == []
