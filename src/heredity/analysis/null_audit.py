"""Audit of others' results: what the per-item scores of a benchmark allow one to conclude.

Long tables have a row for each model and item, wide ones a column for each model. Items are the sample: an interval
holds for new items like these, and a model that was run on them once is one draw of its own seed, which more items do
not average out. Seeds are averaged for each item; the spread between them is reported.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from heredity._core.errors import ConfigError
from heredity._core.tables import Rows, read_rows
from heredity.analysis.paired import compare_cases, holm, verdict
from heredity.analysis.samples import GAP, SHARE, Clusters, Floats, clustered, share
from heredity.analysis.statistics import case_mean
from heredity.results.null_audit import ModelRow, NullAudit, NullRow, PairRow, Sign, Unit
from heredity.results.run import Verdict
from heredity.results.text import listed, number, percent, plural

ROLES: Mapping[str, Sequence[str]] = {
    "model": ("model", "model_name", "system", "agent", "method", "solver", "submission"),
    "item": ("item", "item_id", "id", "task_id", "task", "question_id", "example_id", "sample_id", "instance_id", "problem",
             "problem_id", "environment", "case", "idx", "index"),
    "seed": ("seed", "run", "epoch", "repeat", "trial", "replicate", "attempt"),
    "group": ("group", "cluster", "document", "passage", "template", "repo", "repository"),
    "score": ("score", "correct", "is_correct", "accuracy", "acc", "passed", "resolved", "success", "reward", "return", "value"),
    "answer": ("answer", "prediction", "predicted", "response", "output"),
    "reference": ("reference", "target", "gold", "label", "expected", "ground_truth"),
    "text": ("question", "prompt", "text", "input", "problem_statement"),
    "choices": ("choices", "options"),
}  # fmt: skip
"""Names by which columns are recognised, in any case."""

POLICIES = re.compile(r"random|null|majority|constant|empty|baseline|chance|no.?op", re.IGNORECASE)
_SEEDED = re.compile(r"(?P<model>.+?)[ _@.:-]*(?:seed|run|s)[ _=-]?(?P<seed>\d+)", re.IGNORECASE)
_TRUE, _FALSE = (
    frozenset({"true", "yes", "pass", "passed", "correct"}),
    frozenset({"false", "no", "fail", "failed", "incorrect"}),
)
_MISSING = frozenset({"", "na", "n/a", "none", "null", "nan", "-"})
_MOST_MODELS = 60
_SCALES_APART = 50.0
"""Ratio of the spreads of items from which they are taken to have units of their own."""
_SHOWN = 3
_LEVEL = 0.05
_NEED = (1.959964 + 0.841621) ** 2
"""Squared standard errors between 0 and an effect that is found in 80% at 5%."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Options of an audit.

    Attributes:
        columns: role to the column's name, where it is not recognised.
        lower_is_better: whether lower scores are better.
        ranks: whether to compare ranks for each item; None decides by the spread of items.
        choices: number of answers to choose from, for a policy that chooses at random.
    """

    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    lower_is_better: bool = False
    ranks: bool | None = None
    choices: int | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """Score of a model on an item; NaN if it is missing."""

    model: str
    item: str
    seed: str
    score: float
    group: str | None = None
    answer: str | None = None
    reference: str | None = None
    text: str | None = None
    choices: int | None = None


@dataclass
class Records:
    """Records of all files, with what was wrong in reading them."""

    files: list[str] = field(default_factory=list[str])
    columns: dict[str, str] = field(default_factory=dict[str, str])
    rows: list[Record] = field(default_factory=list[Record])
    impossible: list[str] = field(default_factory=list[str])

    @cached_property
    def models(self) -> list[str]:
        """Models, in order of occurrence."""
        return list(dict.fromkeys(row.model for row in self.rows))

    @cached_property
    def items(self) -> list[str]:
        """Items, in order of occurrence."""
        return list(dict.fromkeys(row.item for row in self.rows))


def read_results(paths: Sequence[Path], asked: Asked) -> Records:
    """Read results of one or several files; without a column of models, each file is a model.

    Raises:
        ConfigError: if a file cannot be read, a named column is missing, or there are no scores.
    """
    records = Records()
    for path in paths:
        rows = read_rows(path, what="results")
        broken = [row for row in rows.rows if row.problem]
        records.impossible += [f"{row.where}: {row.problem}" for row in broken]
        roles = _roles(path, rows, asked)
        records.files.append(path.name)
        records.columns |= roles
        _read_into(records, rows, roles, path.stem)
    if not records.rows or all(math.isnan(row.score) for row in records.rows):
        raise ConfigError(
            f"{paths[0]} has no scores; name their column with --score, or give a column of numbers for each model"
        )
    return records


def _roles(path: Path, rows: Rows, asked: Asked) -> dict[str, str]:
    named = {name.casefold().strip(): name for name in reversed(rows.columns)}
    roles: dict[str, str] = {}
    for role, names in ROLES.items():
        given = asked.columns.get(role)
        if given is not None and given not in rows.columns:
            raise ConfigError(f"{path} has no column {given!r} for --{role}; it has {', '.join(rows.columns)}")
        found = given or next((named[name] for name in names if name in named), None)
        if found is not None and found not in roles.values():
            roles[role] = found
    return roles


def _read_into(records: Records, rows: Rows, roles: Mapping[str, str], stem: str) -> None:
    scored = "score" in roles or {"answer", "reference"} <= roles.keys()
    wide = {} if scored else {name: _split(name) for name in _models_among(rows, roles)}
    for place, row in enumerate((row for row in rows.rows if not row.problem), 1):
        cells = {role: row.cells.get(name) for role, name in roles.items()}
        item = _text(cells.get("item")) or f"row {place}"
        about = {name: _text(cells.get(name)) for name in ("group", "answer", "reference", "text")}
        options = cells.get("choices")
        count = len(options) if isinstance(options, list | tuple | dict) else None  # pyright: ignore[reportUnknownArgumentType]
        base = Record("", item, _text(cells.get("seed")) or "", math.nan, choices=count, **about)
        if scored:
            score = _score(records, row.where, cells)
            records.rows.append(replace(base, model=_text(cells.get("model")) or stem, score=score))
        for name, (model, seed) in wide.items():
            score = _number(records, row.where, row.cells.get(name))
            records.rows.append(replace(base, model=model, seed=seed or base.seed, score=score))


def _score(records: Records, where: str, cells: Mapping[str, Any]) -> float:
    if "score" in cells:
        return _number(records, where, cells["score"])
    answer, reference = _text(cells["answer"]), _text(cells["reference"])
    return float((answer or "").strip().casefold() == (reference or "").strip().casefold())


def _split(name: str) -> tuple[str, str]:
    match = _SEEDED.fullmatch(name)
    return (match["model"], match["seed"]) if match else (name, "")


def _models_among(rows: Rows, roles: Mapping[str, str]) -> list[str]:
    """Return the columns of a wide table that are numbers in at least half of the rows."""
    others = [name for name in rows.columns if name not in roles.values()]
    quiet = Records()
    return [
        name
        for name in others
        if sum(not math.isnan(_number(quiet, "", row.cells.get(name))) for row in rows.rows) * 2 >= len(rows.rows)
    ]


def _text(value: Any) -> str | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return str(value)


def _number(records: Records, where: str, value: Any) -> float:
    """Return a score; NaN if it is missing or impossible, which is noted."""
    text = str(value).strip() if value is not None else ""
    folded = text.casefold()
    if folded in _MISSING:
        return math.nan
    if folded in _TRUE or folded in _FALSE:
        return float(folded in _TRUE)
    scale = 100.0 if folded.endswith("%") else 1.0
    try:
        score = float(folded.removesuffix("%")) / scale
    except ValueError:
        records.impossible.append(f"{where}: {text[:40]!r} is not a number")
        return math.nan
    if not math.isfinite(score):
        records.impossible.append(f"{where}: {text[:40]} is not finite")
        return math.nan
    return score


@dataclass(frozen=True)
class _Table:
    """Scores by model: one row for each seed, one column for each item; higher is better."""

    items: Sequence[str]
    clusters: Clusters | None
    scores: Mapping[str, Floats]
    bounds: tuple[float, float] | None
    unit: Unit

    @cached_property
    def means(self) -> dict[str, Floats]:
        """Mean of each item over seeds."""
        with np.errstate(invalid="ignore"):
            return {model: _mean_over_seeds(table) for model, table in self.scores.items()}


def _mean_over_seeds(table: Floats) -> Floats:
    known = np.isfinite(table)
    counts = known.sum(axis=0)
    sums = np.where(known, table, 0.0).sum(axis=0)
    return np.divide(sums, counts, out=np.full(table.shape[1], np.nan), where=counts > 0)


def _table(records: Records, asked: Asked) -> _Table:
    items = {name: i for i, name in enumerate(records.items)}
    groups = {row.item: row.group for row in records.rows}
    clusters = [groups[name] for name in items] if any(groups.values()) else None
    sign = -1.0 if asked.lower_is_better else 1.0
    scores: dict[str, Floats] = {}
    by_model: dict[str, list[Record]] = defaultdict(list)
    for row in records.rows:
        by_model[row.model].append(row)
    for model, own in by_model.items():
        seeds = {name: i for i, name in enumerate(dict.fromkeys(row.seed for row in own))}
        table = np.full((len(seeds), len(items)), np.nan)
        for row in own:
            table[seeds[row.seed], items[row.item]] = sign * row.score
        scores[model] = table
    plain = _Table(list(items), clusters, scores, None, Unit.SCORE)
    if asked.ranks or (asked.ranks is None and _units_of_their_own(plain)):
        return _ranked(plain)
    bounds = (SHARE if sign > 0 else (-1.0, 0.0)) if share(*(sign * table for table in scores.values())) else None
    return replace(plain, bounds=bounds)


def _units_of_their_own(table: _Table) -> bool:
    """Report whether the spread between models differs so much between items that a mean is that of a few of them."""
    stacked = np.vstack(list(table.means.values()))
    if share(np.abs(stacked)) or len(stacked) < 2:
        return False
    spreads = np.nanmax(stacked, axis=0) - np.nanmin(stacked, axis=0)
    spreads = spreads[np.isfinite(spreads) & (spreads > 0.0)]
    low, high = np.quantile(spreads, (0.1, 0.9)) if spreads.size >= _SHOWN else (1.0, 1.0)
    return bool(high > _SCALES_APART * low)


def _ranked(table: _Table) -> _Table:
    """Replace scores by rank scores of each item: 1 for the best of its models, 0 for the worst, ties in the middle."""
    stacked = np.vstack(list(table.means.values()))
    known = np.isfinite(stacked)
    below = (stacked[:, None, :] > stacked[None, :, :]).sum(axis=1)
    equal = (stacked[:, None, :] == stacked[None, :, :]).sum(axis=1) - 1
    others = known.sum(axis=0) - 1
    ranks = np.where(known & (others > 0), (below + equal / 2) / np.maximum(others, 1), np.nan)
    scores = {model: ranks[i : i + 1] for i, model in enumerate(table.scores)}
    return replace(table, scores=scores, bounds=SHARE, unit=Unit.RANK)


def audit(records: Records, asked: Asked | None = None) -> NullAudit:
    """Return what results allow one to conclude.

    Args:
        records: results of one or several models.
        asked: options.

    Raises:
        ConfigError: if there are more models than can be compared.
    """
    asked = asked or Asked()
    if len(records.models) > _MOST_MODELS:
        raise ConfigError(
            f"{len(records.models)} models are too many to compare; give a file with at most {_MOST_MODELS}"
        )
    table = _table(records, asked)
    ordered = sorted(table.means, key=lambda model: -_mean(table.means[model]))
    pairs = _pairs(table, ordered)
    models = [_model(table, name, ordered, pairs, asked) for name in ordered]
    stacked = np.vstack(list(table.means.values()))
    complete = np.isfinite(stacked).all(axis=0)
    same = (
        complete & (np.ptp(np.where(complete, stacked, 0.0), axis=0) == 0.0) if len(ordered) > 1 else complete & False
    )
    clusters = len(set(table.clusters)) if table.clusters is not None else None
    result = NullAudit(
        files=records.files,
        columns=records.columns,
        unit=table.unit,
        lower_is_better=asked.lower_is_better,
        items=len(table.items),
        common=int(complete.sum()),
        undecided=int(same.sum()),
        clusters=clusters,
        models=models,
        pairs=pairs,
        resolved=sum(pair.verdict in (Verdict.BETTER, Verdict.WORSE) for pair in pairs),
        nulls=_nulls(records, table, models, pairs, asked),
        signs=_signs(records, table),
    )
    return result.model_copy(update={"conclusions": _conclusions(result)})


def _mean(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else -math.inf


def _shown(value: float, table: _Table, asked: Asked) -> float:
    return -value if asked.lower_is_better and table.unit is Unit.SCORE else value


def _model(table: _Table, name: str, ordered: Sequence[str], pairs: Sequence[PairRow], asked: Asked) -> ModelRow:
    values, scores = table.means[name], table.scores[name]
    with_clusters = case_mean([values[None]], bounds=table.bounds, clusters=[table.clusters])
    plain = case_mean([values[None]], bounds=table.bounds) if table.clusters is not None else None
    better = sum(pair.b == name and pair.verdict is Verdict.BETTER for pair in pairs)
    worse = sum(pair.a == name and pair.verdict is Verdict.BETTER for pair in pairs)
    seeds = [_mean(row) for row in scores if np.isfinite(row).any()]

    def both(interval: tuple[float, float] | None) -> tuple[float, float] | None:
        if interval is None:
            return None
        low, high = sorted(_shown(end, table, asked) for end in interval)
        return low, high

    return ModelRow(
        model=name,
        mean=_shown(_mean(values), table, asked) if np.isfinite(values).any() else 0.0,
        items=int(np.isfinite(values).sum()),
        missing=int(np.isnan(values).sum()),
        seeds=len(seeds),
        ci=both(with_clusters.interval if with_clusters else None),
        unknown=with_clusters.unknown if with_clusters else None,
        unclustered=both(plain.interval if plain else None),
        seed_sd=float(np.std(seeds, ddof=1)) if len(seeds) >= _SHOWN else None,
        ranks=(1 + better, len(ordered) - worse),
        policy=bool(POLICIES.search(name)),
    )


def _pairs(table: _Table, ordered: Sequence[str]) -> list[PairRow]:
    count = len(ordered) * (len(ordered) - 1) // 2
    bounds = GAP if table.bounds is not None else None
    rows: list[PairRow] = []
    for a, b in combinations(ordered, 2):
        gaps = table.means[a] - table.means[b]
        both = int(np.isfinite(gaps).sum())
        compared = compare_cases([gaps[None]], count, bounds, clusters=[table.clusters]) if both else None
        untold = compared.untold if compared else None
        rows.append(
            PairRow(
                a=a,
                b=b,
                items=both,
                difference=compared.difference if compared else 0.0,
                ci=compared.interval if compared else None,
                p=compared.p if compared and untold is None else None,
                p_holm=None,
                verdict=Verdict.CANNOT_TELL if compared is None or untold is not None else Verdict.WITHIN_NOISE,
                mde=compared.mde if compared else None,
                items_needed=_items_needed(gaps, table.clusters, compared.difference) if compared else None,
                seeds_needed=_seeds_needed(table.scores[a], table.scores[b], compared.difference) if compared else None,
            )
        )
    corrected = holm([row.p for row in rows])
    return [_judged(row, p) for row, p in zip(rows, corrected, strict=True)]


def _judged(row: PairRow, p: float | None) -> PairRow:
    if row.p is None:
        return row
    word = verdict(row.difference, p, _LEVEL)
    needed = None if word is not Verdict.WITHIN_NOISE else row.items_needed
    seeds = None if word is not Verdict.WITHIN_NOISE else row.seeds_needed
    return row.model_copy(update={"p_holm": p, "verdict": word, "items_needed": needed, "seeds_needed": seeds})


def _units(gaps: Floats, clusters: Clusters | None) -> Floats:
    """Return one value for each cluster, with the mean of the items."""
    table = clustered(gaps[None], clusters)[0] if clusters is not None else gaps
    return table[np.isfinite(table)]


def _items_needed(gaps: Floats, clusters: Clusters | None, difference: float) -> int | None:
    units = _units(gaps, clusters)
    if units.size < 2 or difference == 0.0:
        return None
    return math.ceil(_NEED * float(units.var(ddof=1)) / difference**2)


def _seeds_needed(a: Floats, b: Floats, difference: float) -> int | None:
    """Return the seeds of each model at which these items resolve a difference; None if none do, or it cannot be known."""
    if min(len(a), len(b)) < _SHOWN or difference == 0.0:
        return None
    variance = sum(float(np.var([_mean(row) for row in table], ddof=1)) for table in (a, b))
    return max(2, math.ceil(_NEED * variance / difference**2))


def _nulls(
    records: Records, table: _Table, models: Sequence[ModelRow], pairs: Sequence[PairRow], asked: Asked
) -> list[NullRow]:
    rows: list[NullRow] = []
    for policy in (model for model in models if model.policy):
        beaten = {p.a for p in pairs if p.b == policy.model and p.verdict is Verdict.BETTER}
        left = [m.model for m in models if not m.policy and m.model not in beaten]
        rows.append(NullRow(policy=policy.model, score=policy.mean, source="a model of the file", not_better=left))
    if table.unit is Unit.RANK:
        return rows
    for name, score, source in _policies(records, asked):
        left = [
            m.model
            for m in models
            if not m.policy and (m.ci is None or (m.ci[1] >= score if asked.lower_is_better else m.ci[0] <= score))
        ]
        rows.append(NullRow(policy=name, score=score, source=source, not_better=left))
    return rows


def _policies(records: Records, asked: Asked) -> Iterable[tuple[str, float, str]]:
    """Yield policies that solve nothing, with the scores that the data give them."""
    references = {row.item: row.reference for row in records.rows if row.reference is not None}
    if references and "score" not in records.columns:
        counts = Counter(text.strip().casefold() for text in references.values())
        answer, most = counts.most_common(1)[0]
        yield "always the majority answer", most / len(references), f"{answer[:40]!r} is the reference of {most} items"
        if len(counts) <= _SHOWN * 10 and len(counts) * 2 <= len(references):
            yield "random choice", 1.0 / len(counts), f"of the {len(counts)} references that occur"
    sizes = {row.item: row.choices for row in records.rows if row.choices}
    if asked.choices or sizes:
        score = 1.0 / asked.choices if asked.choices else float(np.mean([1.0 / size for size in sizes.values()]))
        yield "random choice", score, f"of {asked.choices} answers" if asked.choices else "of the listed choices"
    empty = [row.score for row in records.rows if row.answer is not None and not row.answer.strip()]
    blank = [row.score for row in records.rows if row.answer is None] if "answer" in records.columns else []
    known = [score for score in (*empty, *blank) if math.isfinite(score)]
    if known:
        yield "empty answer", float(np.mean(known)), f"mean score of {plural(len(known), 'empty answer')} in the file"


def _signs(records: Records, table: _Table) -> list[Sign]:
    found = [
        ("impossible values, left out", records.impossible),
        ("scores outside 0 to 1 among shares", _outside(records)),
        ("repeated rows of one model, item and seed", _repeated(records)),
        ("items with the same text", _same_texts(records)),
        ("items with the same scores of all models", _same_items(table)),
        ("models with the same scores on all items", _same_models(table)),
        ("models with the same scores for all seeds", _same_seeds(table)),
        ("models with one score on all items", _constant(table)),
    ]
    return [Sign(sign=sign, count=len(all_), examples=all_[:_SHOWN]) for sign, all_ in found if all_]


def _outside(records: Records) -> list[str]:
    known = [row for row in records.rows if math.isfinite(row.score)]
    odd = [row for row in known if not 0.0 <= row.score <= 1.0]
    if not odd or len(odd) * 20 > len(known):
        return []
    return [f"{row.score:g} of {row.model} on {row.item}" for row in odd]


def _repeated(records: Records) -> list[str]:
    counts = Counter((row.model, row.item, row.seed) for row in records.rows)
    return [
        f"{model} on {item}{f', seed {seed}' if seed else ''}" for (model, item, seed), n in counts.items() if n > 1
    ]


def _same_texts(records: Records) -> list[str]:
    by_text: dict[str, dict[str, None]] = defaultdict(dict)
    for row in records.rows:
        if row.text:
            by_text[" ".join(row.text.casefold().split())][row.item] = None
    return [" = ".join(items) for items in by_text.values() if len(items) > 1]


def _same_items(table: _Table) -> list[str]:
    """Return items with equal scores of all models where chance does not explain it: three or more different fractions."""
    stacked = np.vstack([np.nan_to_num(scores, nan=math.inf) for scores in table.scores.values()])
    seen: dict[bytes, list[str]] = defaultdict(list)
    for i, name in enumerate(table.items):
        if table.unit is Unit.SCORE and len(set(stacked[:, i].tolist()) - {0.0, 1.0, -1.0}) >= _SHOWN:
            seen[stacked[:, i].tobytes()].append(name)
    return [" = ".join(names) for names in seen.values() if len(names) > 1]


def _same_models(table: _Table) -> list[str]:
    pairs = combinations(table.means, 2)
    return [
        f"{a} = {b}"
        for a, b in pairs
        if len(table.items) > 1 and np.ptp(np.nan_to_num(table.means[a])) > 0 and _equal(table.means[a], table.means[b])
    ]


def _same_seeds(table: _Table) -> list[str]:
    return [
        m for m, rows in table.scores.items() if len(rows) > 1 and all(_equal(rows[0], other) for other in rows[1:])
    ]


def _constant(table: _Table) -> list[str]:
    known = {model: values[np.isfinite(values)] for model, values in table.means.items()}
    return [f"{model}: {v[0]:g}" for model, v in known.items() if v.size > 1 and np.ptp(v) == 0.0]


def _equal(a: Floats, b: Floats) -> bool:
    return bool(np.array_equal(a, b, equal_nan=True))


def _conclusions(result: NullAudit) -> list[str]:
    said = [*_on_ranking(result), *_on_sample(result), *_on_nulls(result)]
    said += [f"{sign.sign.capitalize()}: {sign.count} ({'; '.join(sign.examples)})." for sign in result.signs]
    return said


def _on_ranking(result: NullAudit) -> Iterable[str]:
    if len(result.models) < 2:
        yield "There is one model, so nothing is compared."
        return
    first, second = result.models[0], result.models[1]
    top = next(pair for pair in result.pairs if (pair.a, pair.b) == (first.model, second.model))
    if top.verdict is Verdict.BETTER:
        yield f"{first.model} is better than {second.model} on items like these (p {number(top.p_holm, 3)}, corrected)."
    else:
        tied = [model.model for model in result.models if model.ranks[0] == 1]
        yield f"There is no winner: {listed(tied)} may each be first." if len(tied) > 1 else "There is no winner."
    yield f"{result.resolved} of {plural(len(result.pairs), 'pair')} of models are resolved after correction."
    known = [pair.mde for pair in result.pairs if pair.mde is not None]
    if known:
        unit = " in rank score" if result.unit is Unit.RANK else ""
        least = number(float(np.median(known)))
        yield f"The smallest true difference that such a comparison finds in 80% is {least}{unit} (median of the pairs)."
    if top.items_needed is not None:
        what = "clusters of items" if result.clusters else "items"
        seeds = f", or {top.seeds_needed} seeds on these items alone" if top.seeds_needed else ""
        yield f"To resolve the first two, if their difference is real: about {top.items_needed:,} {what}{seeds}."


def _on_sample(result: NullAudit) -> Iterable[str]:
    if result.unit is Unit.RANK:
        yield "The items have units of their own, so that a mean would be that of a few of them: ranks are compared instead."
    if result.undecided:
        share_ = percent(result.undecided / result.items)
        yield f"On {plural(result.undecided, 'item')} ({share_}) all models have the same score: they separate nothing."
    few = sum(model.seeds < _SHOWN for model in result.models)
    if few:
        which = "The models have" if few == len(result.models) else f"{few} of {len(result.models)} models have"
        yield f"{which} fewer than three seeds, so their spread between runs is unknown: claims are about these runs."
    wide = [m for m in result.models if m.unclustered and m.ci and _width(m.ci) > 1.2 * _width(m.unclustered)]
    if wide:
        ratio = max(_width(m.ci) / _width(m.unclustered) for m in wide if m.ci and m.unclustered)
        yield f"Items of one cluster are alike: intervals are up to {ratio:.1f} times as wide as without clusters."
    if result.common < result.items:
        yield f"Only {result.common} of {plural(result.items, 'item')} have scores of all models; pairs use the items of both."


def _width(interval: tuple[float, float]) -> float:
    return max(interval[1] - interval[0], 1e-12)


def _on_nulls(result: NullAudit) -> Iterable[str]:
    for row in result.nulls:
        about = f"{row.policy} scores {number(row.score)} ({row.source})"
        yield (
            f"{about}; not shown to be better: {listed(row.not_better)}."
            if row.not_better
            else f"{about}; every model beats it."
        )
