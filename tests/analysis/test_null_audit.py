"""What an audit says of results whose truth is known: the same model twice, true differences, constants, copies, nonsense."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from heredity._core.errors import ConfigError
from heredity.analysis.null_audit import Asked, Records, audit, read_results
from heredity.cli.main import app
from heredity.results.null_audit import NullAudit, Unit
from heredity.results.run import Verdict

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"


def write(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def audited(path: Path, **options: Any) -> NullAudit:
    asked = Asked(**options)
    return audit(read_results([path], asked), asked)


def wide(path: Path, columns: dict[str, Sequence[Any]], **about: Sequence[Any]) -> Path:
    count = len(next(iter(columns.values())))
    rows = [{"item": f"i{n}", **{k: v[n] for k, v in {**about, **columns}.items()}} for n in range(count)]
    return write(path, rows)


def signs(result: NullAudit) -> dict[str, int]:
    return {sign.sign: sign.count for sign in result.signs}


def binary(rng: np.random.Generator, chance: np.ndarray, gain: float = 0.0) -> list[int]:
    return (rng.random(chance.size) < np.clip(chance + gain, 0.0, 1.0)).astype(int).tolist()


def test_the_same_model_four_times_is_ranked_in_few_of_many_benchmarks(tmp_path: Path) -> None:
    rng, ranked, covered = np.random.default_rng(0), 0, 0
    for _ in range(60):
        chance = rng.beta(1.0, 1.0, 80)
        result = audited(wide(tmp_path / "aa.csv", {name: binary(rng, chance) for name in "abcd"}))
        ranked += result.resolved > 0
        covered += sum(m.ci is not None and m.ci[0] <= 0.5 <= m.ci[1] for m in result.models)
        assert all(model.ranks == (1, 4) for model in result.models) or result.resolved
    assert ranked <= 6, "at most 5% in expectation"
    assert covered >= 0.9 * 240


def test_a_true_difference_is_found_and_the_items_it_needs_are_about_right(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    found = {40: 0, 400: 0}
    needed: list[int] = []
    for count in found:
        for _ in range(20):
            chance = rng.uniform(0.2, 0.7, count)
            result = audited(wide(tmp_path / "ab.csv", {"a": binary(rng, chance, 0.15), "b": binary(rng, chance)}))
            (pair,) = result.pairs
            found[count] += pair.verdict is Verdict.BETTER
            needed += [pair.items_needed] if pair.items_needed and count == 40 else []
    assert found[400] >= 18
    assert found[40] <= 12
    variance = 2 * 0.24  # of two scores around 0.45, independent given the item
    assert min(needed) < 8 * variance / 0.15**2 * 4


def test_a_winner_is_named_with_the_ranks_that_stay_open(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    chance = np.full(500, 0.5)
    scores = {"good": binary(rng, chance, 0.3), "one": binary(rng, chance), "two": binary(rng, chance)}
    result = audited(wide(tmp_path / "x.csv", scores))
    assert result.models[0].model == "good"
    assert [model.ranks for model in result.models] == [(1, 1), (2, 3), (2, 3)]
    assert result.conclusions[0].startswith("good is better than")
    assert "2 of 3 pairs" in result.conclusions[1]


def test_long_and_wide_tables_of_any_format_say_the_same(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    chance = rng.random(30)
    scores = {"a_seed0": binary(rng, chance), "a_seed1": binary(rng, chance), "b_seed0": binary(rng, chance)}
    scores["b_seed1"] = binary(rng, chance)
    rows = [
        {"Model": name[0], "Seed": name[-1], "Task_ID": f"i{n}", "correct": bool(score)}
        for name, column in scores.items()
        for n, score in enumerate(column)
    ]
    files = [
        wide(tmp_path / "wide.csv", scores),
        write(tmp_path / "long.csv", rows),
        tmp_path / "l.jsonl",
        tmp_path / "l.parquet",
    ]
    files[2].write_text("".join(json.dumps(row) + "\n" for row in rows))
    pl.DataFrame(rows).write_parquet(files[3])
    results = [audited(file) for file in files]
    assert all(one.models == results[0].models and one.pairs == results[0].pairs for one in results)
    assert [(model.model, model.seeds, model.items) for model in results[0].models] == [
        (m.model, 2, 30) for m in results[0].models
    ]


def test_each_file_is_a_model_where_no_column_names_models(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write(tmp_path / f"{name}.csv", [{"id": n, "score": n % 2} for n in range(8)])
    asked = Asked()
    records = read_results([tmp_path / "one.csv", tmp_path / "two.csv"], asked)
    assert records.models == ["one", "two"]
    assert signs(audit(records, asked))["models with the same scores on all items"] == 1


def test_items_of_one_document_are_one_draw(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    documents = np.repeat(np.arange(12), 20)
    luck = rng.integers(0, 2, (2, 12))[:, documents]
    columns = {"a": luck[0].tolist(), "b": luck[1].tolist()}
    path = wide(tmp_path / "x.csv", columns, document=documents.tolist())
    result = audited(path)
    assert result.clusters == 12
    for model in result.models:
        assert model.ci is not None
        assert model.unclustered is not None
        assert model.ci[1] - model.ci[0] > 2 * (model.unclustered[1] - model.unclustered[0])
    assert any("times as wide as without clusters" in line for line in result.conclusions)


def test_policies_that_solve_nothing_have_the_scores_that_the_data_give_them(tmp_path: Path) -> None:
    references = ["yes"] * 70 + ["no"] * 30
    rows = [
        {"model": model, "item": n, "answer": answer, "target": reference}
        for n, reference in enumerate(references)
        for model, answer in (("eager", "Yes "), ("exact", reference))
    ]
    nulls = {row.policy: row for row in audited(write(tmp_path / "x.csv", rows)).nulls}
    assert nulls["always the majority answer"].score == 0.7
    assert nulls["always the majority answer"].not_better == ["eager"]
    assert nulls["random choice"].score == 0.5


def test_empty_answers_that_score_and_a_random_model_of_the_file_are_named(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    rows = [
        {"model": model, "item": n, "answer": "" if n < 10 else "text", "score": int(n < 8 or rng.random() < 0.3)}
        for n in range(60)
        for model in ("mine", "Random policy")
    ]
    result = audited(write(tmp_path / "x.csv", rows), choices=4)
    nulls = {row.policy: row for row in result.nulls}
    assert nulls["empty answer"].score >= 0.8
    assert nulls["random choice"].score == 0.25
    assert nulls["Random policy"].not_better == ["mine"]


def test_contamination_of_the_statistic_is_named(tmp_path: Path) -> None:
    rng = np.random.default_rng(16)
    rows: list[dict[str, Any]] = []
    for n in range(40):
        for model, score in (("a", round(rng.random(), 3)), ("constant", 0.5), ("c", round(rng.random(), 3))):
            rows.append(
                {"model": model, "item": f"i{n}", "score": score, "question": f"What is {n // 2 if n < 4 else n}?"}
            )
    rows.append({**rows[0]})
    rows += [{**row, "item": "copy", "question": "another"} for row in rows[:3]]
    rows[9]["score"], rows[10]["score"], rows[13]["score"], rows[16]["score"] = "7.5", "many", "nan", "inf"
    found = signs(audited(write(tmp_path / "x.csv", rows)))
    assert found == {
        "impossible values, left out": 2,
        "scores outside 0 to 1 among shares": 1,
        "repeated rows of one model, item and seed": 1,
        "items with the same text": 2,
        "items with the same scores of all models": 1,
        "models with one score on all items": 1,
    }


def test_seeds_that_are_copies_and_items_that_separate_nothing_are_named(tmp_path: Path) -> None:
    columns = {
        "a_seed0": [1, 0, 1, 1] * 5,
        "a_seed1": [1, 0, 1, 1] * 5,
        "b_seed0": [1, 1, 1, 0] * 5,
        "b_seed1": [0, 1, 1, 0] * 5,
    }
    result = audited(wide(tmp_path / "x.csv", columns))
    assert signs(result)["models with the same scores for all seeds"] == 1
    assert result.undecided == 5


def test_items_with_units_of_their_own_are_compared_by_ranks_unless_scores_are_asked_for(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    units = 10.0 ** np.arange(12)
    path = wide(
        tmp_path / "x.csv", {"good": (units * (1 + rng.random(12))).tolist(), "bad": (units * rng.random(12)).tolist()}
    )
    result = audited(path)
    assert result.unit is Unit.RANK
    assert result.models[0].mean == 1.0
    assert result.pairs[0].verdict is Verdict.BETTER
    assert audited(path, ranks=False).unit is Unit.SCORE
    lower = audited(path, lower_is_better=True)
    assert lower.models[0].model == "bad"


def test_lower_is_better_keeps_the_sign_of_means(tmp_path: Path) -> None:
    path = wide(tmp_path / "x.csv", {"slow": [5.0, 6.0, 7.0, 8.0, 9.0, 7.0], "fast": [1.0, 2.0, 2.5, 3.0, 4.0, 2.0]})
    result = audited(path, lower_is_better=True)
    assert [(model.model, model.mean > 0) for model in result.models] == [("fast", True), ("slow", True)]
    assert result.models[0].ci is not None
    assert result.models[0].ci[0] < result.models[0].mean < result.models[0].ci[1]


@pytest.mark.parametrize(
    ("text", "options", "why"),
    [
        ("item,score\n", {}, "has no results"),
        ("item,score\na,x\nb,\n", {}, "has no scores"),
        ("item,name\na,x\n", {}, "has no scores"),
        ("item,score\na,1\n", {"columns": {"model": "who"}}, "has no column 'who' for --model; it has item, score"),
    ],
)
def test_what_cannot_be_audited_is_refused(text: str, options: dict[str, Any], why: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(ConfigError, match=why):
        audited(tmp_path / "x.csv", **options)


def test_too_many_models_and_a_single_score_are_handled(tmp_path: Path) -> None:
    rows = [{"model": f"m{n}", "item": "i", "score": n} for n in range(61)]
    with pytest.raises(ConfigError, match="61 models are too many"):
        audited(write(tmp_path / "x.csv", rows))
    single = audited(write(tmp_path / "y.csv", rows[1:2]))
    assert single.models[0].ci is None
    assert single.conclusions[0] == "There is one model, so nothing is compared."
    assert Records().models == []


def test_the_command_prints_json_and_writes_a_page_with_a_plot(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    path = wide(tmp_path / "x.csv", {"a": binary(rng, np.full(50, 0.9)), "<b>": binary(rng, np.full(50, 0.2))})
    done = CliRunner().invoke(app, ["null-audit", str(path), "--json", "--out", str(tmp_path / "page.html")])
    assert done.exit_code == 0, done.output
    assert NullAudit.model_validate_json(done.stdout).resolved == 1
    page = (tmp_path / "page.html").read_text()
    assert "<svg" in page
    assert "<b>" not in page.replace("<b>a", "")
    shown = CliRunner().invoke(app, ["null-audit", str(path), "--choices", "4"])
    assert "a is better than <b>" in " ".join(shown.stdout.split())


@pytest.mark.skipif(not (DATA / "core16_paper_results.csv").exists(), reason="the shared data is not here")
def test_a_published_table_of_sixteen_environments_resolves_two_tiers_and_no_winner() -> None:
    result = audited(DATA / "core16_paper_results.csv")
    assert result.unit is Unit.RANK
    assert (result.items, len(result.models), result.resolved) == (16, 5, 8)
    assert result.conclusions[0] == "There is no winner: gpt-5.5 and claude-opus-4.7 may each be first."
    assert result.nulls[0].policy == "random"
