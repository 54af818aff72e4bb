"""Estimate of the model calls, tokens and cost of a suite, before it starts.

Calls follow from the suite's structure: attempts of tasks, views, rounds of methods, starts of agents. Tokens per call, and
calls per run where a run of the same settings has ended, are measured in earlier runs (their `spans.jsonl`); without them
the input of a question is measured in a few train tasks. What has not been measured is assumed, and the estimate says which
it is. All figures are ranges that hold most runs, not limits. Factors that are uncertain independently of each other are
unlikely to lie at the same end, so the widths of their ranges are added in quadrature, on a logarithmic scale.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from heredity._core.errors import HeredityError
from heredity._core.ids import digest_json
from heredity.configuration.config import Cell, Config
from heredity.engine.kind import KINDS, Kind
from heredity.experiments.config import cells, read_toml
from heredity.experiments.idle import calls_nothing, proposes
from heredity.experiments.outside_agents import agent_model
from heredity.methods.operators.gepa_search import GepaOptions
from heredity.methods.proposals import LoopOptions
from heredity.methods.registry import METHODS, parse_options
from heredity.models.prices import FREE, Prices, listed_prices
from heredity.models.settings import GatewaySettings, stand_in
from heredity.protocols.registry import PROTOCOLS
from heredity.records.run_folder import is_run
from heredity.records.span_log import NAME as SPANS
from heredity.records.span_log import read_spans
from heredity.tasks import Task, Taskset
from heredity.tasks.registry import taskset

ASSUMED, MEASURED, PARTLY = "assumed", "measured", "tokens per call measured, number of calls assumed"
"""The bases of an estimate."""

_MOST_RUNS, _MOST_BYTES = 400, 64 << 20
"""Bounds of the search for earlier runs."""


class Span(NamedTuple):
    """A range of a figure."""

    low: float
    high: float

    def __add__(self, other: object) -> Span:
        assert isinstance(other, tuple)
        return Span(self.low + other[0], self.high + other[1])

    def times(self, low: float, high: float | None = None) -> Span:
        """Return the range of a product with a figure between `low` and `high`."""
        return Span(self.low * low, self.high * (low if high is None else high))

    def product(self, other: Span) -> Span:
        """Return the range of a product with another, independently uncertain figure."""
        if not (self.low > 0 and other.low > 0):
            return Span(self.low * other.low, self.high * other.high)
        middle = math.sqrt(self.low * self.high * other.low * other.high)
        width = math.exp(math.hypot(math.log(self.high / self.low), math.log(other.high / other.low)) / 2)
        return Span(middle / width, middle * width)

    def mostly(self, share: float) -> Span:
        """Return the range without the part below a share of its end: evolvers stop early, but seldom at once."""
        return Span(max(self.low, share * self.high), self.high)


_NONE = Span(0.0, 0.0)
_AGENT_CALLS = Span(30, 400)
"""Assumed calls of a coding agent in one run."""

_LEAST_ATTEMPTS, _LEAST_PROPOSALS = 0.3, 0.1
"""Assumed least shares of the most attempts and proposals that a run can make."""

_TOKENS: Mapping[str, tuple[Span, Span]] = {
    "attempt": (Span(500, 3000), Span(100, 1000)),
    "proposal": (Span(2000, 8000), Span(500, 2500)),
    "agent": (Span(10_000, 40_000), Span(300, 1000)),
    "judge": (Span(500, 2000), Span(50, 400)),
}
"""Assumed mean input and output tokens of a call, by who makes it."""


@dataclass(frozen=True, slots=True)
class ModelEstimate:
    """Estimated usage of one model by a whole suite.

    Attributes:
        model: its full name.
        calls: number of calls.
        input_tokens, output_tokens: their tokens.
        cost_usd: their cost in US dollars; None without a known price.
        basis: how it was found.
        free: whether calls cost nothing: a program, a local model or a server on this machine without a price.
    """

    model: str
    calls: Span
    input_tokens: Span
    output_tokens: Span
    cost_usd: Span | None
    basis: str
    free: bool


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimated model usage of a suite.

    Attributes:
        runs: number of runs.
        models: the models that it calls.
        measured_runs: number of earlier runs that it rests on.
        limit_usd: the limit that the configuration sets, in US dollars; None for none.
        first: id of the run that costs most, for a canary.
        unloaded: tasksets that could not be loaded; each is counted as one of its kind.
    """

    runs: int
    models: list[ModelEstimate] = field(default_factory=list[ModelEstimate])
    measured_runs: int = 0
    limit_usd: float | None = None
    first: str = ""
    unloaded: Sequence[str] = ()

    @property
    def paid(self) -> list[ModelEstimate]:
        """The models whose calls cost something, or may."""
        return [one for one in self.models if not one.free and one.calls.high > 0]

    @property
    def cost_usd(self) -> Span | None:
        """The cost of all models; None if a price is unknown."""
        total = _NONE
        for one in self.paid:
            if one.cost_usd is None:
                return None
            total += one.cost_usd
        return (
            total if self.limit_usd is None else Span(min(total.low, self.limit_usd), min(total.high, self.limit_usd))
        )

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        models = [
            {key: value._asdict() if isinstance(value, Span) else value for key, value in _shallow(one).items()}
            for one in self.models
        ]
        cost = self.cost_usd
        about: dict[str, Any] = {
            "unloaded": list(self.unloaded),
            "runs": self.runs,
            "measured_runs": self.measured_runs,
            "limit_usd": self.limit_usd,
            "first": self.first,
        }
        return {**about, "cost_usd": cost and cost._asdict(), "models": models}


def _shallow(one: ModelEstimate) -> dict[str, Any]:
    return {name: getattr(one, name) for name in ModelEstimate.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class Usage:
    """Measured calls of one model by one run, or by several."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        cost = None if self.cost_usd is None or other.cost_usd is None else self.cost_usd + other.cost_usd
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            cost,
        )


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """The usage of a run that has ended, by model.

    Attributes:
        folder: its folder.
        protocol, label, taskset: of the run.
        settings: digest of the settings that decide how much it does.
        usage: usage by model.
    """

    folder: Path
    protocol: str
    label: str
    taskset: str
    settings: str
    usage: Mapping[str, Usage]


def estimate(config: Config, folder: Path) -> Estimate:
    """Estimate the model usage of a suite.

    Args:
        config: the suite's configuration.
        folder: folder with earlier suites, such as `runs`.

    Raises:
        ConfigError: if the configuration does not make any runs.
    """
    suite = cells(config)
    earlier = list(earlier_runs(folder))
    totals: dict[str, ModelEstimate] = {}
    costs = dict.fromkeys((cell.id for cell in suite), 0.0)
    for cell in suite:
        for part in _run_estimate(cell, earlier):
            totals[part.model] = _sum(totals[part.model], part) if part.model in totals else part
            costs[cell.id] += (
                0.0 if part.free else part.calls.high + 1e6 * (part.cost_usd.high if part.cost_usd else 0.0)
            )
    most = config.gateway.max_calls
    models = [_capped(one, most) for one in totals.values()]
    first = max(costs, key=lambda name: costs[name])
    unloaded = [name for name in config.run.tasksets if _taskset(name)[0] is None]
    return Estimate(len(suite), models, len(earlier), config.gateway.max_cost_usd, first, unloaded)


def earlier_runs(folder: Path) -> Iterator[EarlierRun]:
    """Yield the latest runs that have ended in the suites of a folder, with the usage of their models."""
    paths = [path for path in folder.glob("*/runs/*") if is_run(path) and (path / "metrics.json").exists()]
    for path in sorted(paths, key=lambda path: -path.stat().st_mtime)[:_MOST_RUNS]:
        try:
            if (run := _earlier(path)) is not None:
                yield run
        except (HeredityError, OSError, ValueError, KeyError, TypeError):
            continue  # Whatever is wrong with an earlier run, it is only not counted.


def _earlier(path: Path) -> EarlierRun | None:
    metrics: Any = json.loads((path / "metrics.json").read_bytes())
    spans = path / SPANS
    if not spans.exists() or spans.stat().st_size > _MOST_BYTES or metrics["status"] == "unfinished":
        return None
    usage: dict[str, Usage] = {}
    for span in read_spans(spans)[0]:
        about = span.attributes
        if span.kind == "model" and "usage" in about and about.get("cache") != "hit":
            used: Mapping[str, Any] = about["usage"]
            one = Usage(1, used.get("input_tokens") or 0, used.get("output_tokens") or 0, used.get("cost_usd"))
            usage[str(about["model"])] = usage.get(str(about["model"]), Usage()) + one
    config = read_toml(path / "run.toml")
    return EarlierRun(
        path,
        str(metrics["protocol"]),
        str(metrics["evolver"]["name"]),
        str(metrics["taskset"]),
        _settings(config),
        usage,
    )


def _settings(config: Mapping[str, Any]) -> str:
    """Return a digest of the sections that decide how much a run does."""
    evolver: Mapping[str, Any] = config.get("evolver", {})
    parts = {name: config.get(name) for name in ("budget", "views", "schedule", "within", "solver", "team", "training")}
    return digest_json({**parts, "options": evolver.get("options")})


def _run_estimate(cell: Cell, earlier: Sequence[EarlierRun]) -> Iterator[ModelEstimate]:
    """Yield the estimates of one run, one for each model and role."""
    protocol = cell.config.run.protocol
    own = _settings(cell.config.model_dump(exclude_none=True))
    shared: dict[str, list[tuple[str, Span]]] = {}
    for role, model, calls in _structure(cell):
        for name, share in _members(model, cell.config.gateway):
            shared.setdefault(name, []).append((role, calls.times(share)))
    for name, parts in shared.items():
        alike = [run for run in earlier if run.protocol == protocol and name in run.usage]
        same = [
            run.usage[name]
            for run in alike
            if (run.label, run.taskset, run.settings) == (cell.label, cell.taskset, own)
        ]
        kin = [run.usage[name] for run in alike if run.label == cell.label and run.settings == own]
        yield _estimated(name, parts, same or kin, [run.usage[name] for run in alike], cell, exact=bool(same))


def _estimated(
    name: str,
    parts: Sequence[tuple[str, Span]],
    runs: Sequence[Usage],
    alike: Sequence[Usage],
    cell: Cell,
    *,
    exact: bool,
) -> ModelEstimate:
    calls = sum((part for _, part in parts), _NONE)
    assumed = {**_TOKENS, "attempt": (_measured_input(cell) or _TOKENS["attempt"][0], _TOKENS["attempt"][1])}
    tokens = [sum((part.product(assumed[role][which]) for role, part in parts), _NONE) for which in (0, 1)]
    basis = ASSUMED
    counted = sum(alike, Usage())
    if runs and calls.high:
        low, high = (0.6, 1.6) if exact else (0.4, 2.5)
        calls = Span(min(run.calls for run in runs) * low, max(run.calls for run in runs) * high)
        basis = MEASURED
    elif counted.calls:
        basis = PARTLY
    if counted.calls and calls.high:
        per_call = (counted.input_tokens / counted.calls, counted.output_tokens / counted.calls)
        tokens = [calls.product(Span(0.7 * each, 1.5 * each)) for each in per_call]
    prices, free = _prices(name, cell.config.gateway)
    cost = None
    if prices is not None:
        cost = Span(*((i * prices.input + o * prices.output) / 1e6 for i, o in zip(*tokens, strict=True)))
    if not free and prices is None and counted.calls and counted.cost_usd:
        per_call_usd = counted.cost_usd / counted.calls
        cost = calls.product(Span(0.7 * per_call_usd, 1.5 * per_call_usd))
    return ModelEstimate(name, calls, tokens[0], tokens[1], cost, basis, free)


def _structure(cell: Cell) -> Iterator[tuple[str, str, Span]]:
    """Yield who calls a model in a run, which model, and how often, from the configuration alone."""
    config, gateway = cell.config, cell.config.gateway
    needs = PROTOCOLS.load(config.run.protocol).setting.needs(config)
    tasks, kind = _taskset(cell.taskset)
    silent = set() if tasks is None else calls_nothing(cell, tasks, kind, needs)
    attempts, calls = Span(*needs.attempts).mostly(_LEAST_ATTEMPTS), _calls(kind, config)
    if needs.asks:
        for model in needs.asks:
            yield "attempt", model, attempts.product(Span(2 / len(needs.asks), 40))
    elif gateway.execution and "gateway.execution" not in silent and kind.needs.model != "none":
        yield "attempt", gateway.execution, attempts.product(calls)
    for model in needs.models:
        yield "attempt", model, attempts.product(Span(0.2 * calls.low, calls.high))
    if gateway.judge and "gateway.judge" not in silent:
        yield "judge", gateway.judge, attempts.times(1, 2)
    if gateway.optimisation and "gateway.optimisation" not in silent and not needs.asks:
        proposals = Span(*needs.proposals) if needs.proposals else _proposals(cell)
        yield "proposal", gateway.optimisation, proposals.mostly(_LEAST_PROPOSALS)
    if cell.evolver.outside and (model := agent_model(cell)) and "evolver.model" not in silent:
        yield "agent", model, _AGENT_CALLS


_QUESTION = ("question", "instructions")
"""Fields of a task that its prompt repeats whole."""
_SAMPLE, _AROUND = 8, Span(5, 120)
"""Train tasks whose questions are measured, and assumed tokens of the prompt around a question."""


def _measured_input(cell: Cell) -> Span | None:
    """Return the input tokens of a call, measured in some train tasks; None where prompts do not consist of the question."""
    tasks, kind = _taskset(cell.taskset)
    if tasks is None or kind.needs.model != "required" or cell.config.solver.tools:
        return None
    return _question_tokens(cell.taskset)


@cache
def _question_tokens(name: str) -> Span | None:
    drawn: Sequence[Task] = ()
    # A small taskset cannot give the larger sample.
    for count in (_SAMPLE, 1):
        with contextlib.suppress(HeredityError):
            drawn = drawn or taskset(name).draw("train", count, 0)
    if not drawn:
        return None
    texts = [" ".join(str(task.spec[key]) for key in _QUESTION if key in task.spec) for task in drawn]
    tokens = sum(len(text.encode()) for text in texts) / (4 * len(texts))
    return Span(0.8 * tokens, 1.3 * tokens) + _AROUND if tokens else None


def _taskset(name: str) -> tuple[Taskset | None, Kind]:
    """Return a taskset and its kind; None and a guess if it cannot be loaded, which the preflight explains."""
    try:
        tasks = taskset(name)
        return tasks, KINDS.load(tasks.info.kind)
    except HeredityError:
        guess = {"worlds": "world", "world-folders": "world", "tasks": "container", "posttraining": "model"}
        return None, KINDS.load(guess.get(name.partition("/")[0], "question"))


def _calls(kind: Kind, config: Config) -> Span:
    """Return the calls of one attempt: some per turn, more with tools."""
    low, high = kind.needs.calls
    solver = config.solver
    if solver.tools and kind.needs.tools:
        high = max(high, min(solver.max_turns, 25))
    return Span(low, min(high, solver.max_turns) * solver.rounds if kind.needs.model == "required" else high)


def _proposals(cell: Cell) -> Span:
    """Return the calls of a method: those of its rounds, as far as the budget of attempts allows."""
    method, budget = cell.evolver.method, cell.config.budget
    if method is None or not proposes(cell):
        return _NONE
    model = getattr(METHODS.load(method), "options_model", None)
    try:
        options = None if model is None else parse_options(model, method, cell.evolver.options)
    except HeredityError:
        options = None
    episodes = budget.episodes
    if isinstance(options, LoopOptions):
        rounds = (
            options.rounds
            if episodes is None
            else min(options.rounds, episodes // (options.batch * options.repeats) + 1)
        )
        return Span(1, max(1, rounds) * options.candidates * 3)
    if isinstance(options, GepaOptions):
        return Span(1, 2 * (episodes or 100) / options.batch)
    return Span(1, 2 * (episodes or 100))


def _members(model: str, gateway: GatewaySettings) -> list[tuple[str, float]]:
    """Return the models behind a name, each with its largest share of the calls."""
    if model not in gateway.routes:
        return [(model, 1.0)]
    return [(member, 1.0) for member in gateway.routes[model].models[:1]]


def _prices(name: str, gateway: GatewaySettings) -> tuple[Prices | None, bool]:
    """Return the prices of a model, and whether its calls are free."""
    provider, first = gateway.provider(name), name.partition("/")[0]
    if stand_in(name) or first == "local":
        return FREE, True
    if provider is None:
        return None, False
    model = name.partition("/")[2]
    prices = provider.prices_of(model) or _listed(model, first if provider.kind == "openai" else provider.kind)
    if prices is None and urlsplit(provider.base_url).hostname in ("127.0.0.1", "localhost", "::1"):
        return FREE, True
    return prices, False


@cache
def _listed(model: str, provider: str) -> Prices | None:
    try:
        return listed_prices(model, provider)
    except ImportError:
        return None


def _sum(one: ModelEstimate, other: ModelEstimate) -> ModelEstimate:
    cost = None if one.cost_usd is None or other.cost_usd is None else one.cost_usd + other.cost_usd
    basis = one.basis if one.basis == other.basis else PARTLY
    tokens = (one.input_tokens + other.input_tokens, one.output_tokens + other.output_tokens)
    return ModelEstimate(one.model, one.calls + other.calls, *tokens, cost, basis, one.free)


def _capped(one: ModelEstimate, most: int | None) -> ModelEstimate:
    """Return the estimate under the limit on calls."""
    if most is None or one.calls.high <= most:
        return one
    share = most / one.calls.high
    cost = one.cost_usd and Span(min(one.cost_usd.low, one.cost_usd.high * share), one.cost_usd.high * share)
    calls, tokens_in, tokens_out = (
        Span(min(span.low, span.high * share), span.high * share)
        for span in (one.calls, one.input_tokens, one.output_tokens)
    )
    return ModelEstimate(one.model, calls, tokens_in, tokens_out, cost, one.basis, one.free)


def lines(made: Estimate) -> list[str]:
    """Return an estimate in words, one line for each model and one for the whole."""
    shown = [_line(one) for one in made.models if one.calls.high > 0]
    if made.unloaded:
        shown.append(f"not loaded, so counted as one taskset each: {', '.join(made.unloaded)}")
    if not shown:
        return [f"{made.runs} runs, no model is called"]
    cost = made.cost_usd
    whole = "cost unknown" if cost is None else f"${_figure(cost.low)} to ${_figure(cost.high)}" if made.paid else "$0"
    limit = "" if made.limit_usd is None else f", stopped at ${made.limit_usd:g} (gateway.max_cost_usd)"
    source = f"; from {made.measured_runs} earlier runs here" if made.measured_runs else ""
    return [*shown, f"{made.runs} runs together: {whole}{limit}{source}"]


def _line(one: ModelEstimate) -> str:
    calls = f"{one.model}: {_about(one.calls)} calls"
    if one.free:
        return f"{calls}, free"
    tokens = f"{_about(one.input_tokens)} tokens in, {_about(one.output_tokens)} out"
    return f"{calls}, {tokens}, {_money(one)} ({one.basis})"


def _money(one: ModelEstimate) -> str:
    if one.cost_usd is None:
        provider = one.model.partition("/")[0]
        return f"price unknown: set gateway.providers.{provider}.prices"
    return f"${_figure(one.cost_usd.low)} to ${_figure(one.cost_usd.high)}"


def _about(span: Span) -> str:
    low, high = _figure(span.low), _figure(span.high)
    return low if low == high else f"{low} to {high}"


def _figure(value: float) -> str:
    """Return a figure with two digits, such as 1.3 million as `1,300,000`."""
    if value <= 0:
        return "0"
    digits = 1 - math.floor(math.log10(value))
    rounded = round(value, digits)
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"
