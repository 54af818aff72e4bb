"""The functions of `heredity` that run, continue and read suites, and their results.

The command line calls the same functions. Each has an async twin, named `*_async` so that the two stand side by side in a list of
names and a search for one meets the other.
"""

from __future__ import annotations

import asyncio
import html
import shlex
import sys
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property, wraps
from inspect import signature
from pathlib import Path
from shutil import copyfile
from typing import Any, Generic, Literal, ParamSpec, TypeVar

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import (
    ConfigError,
    IsolationError,
    MissingExtraError,
    RecordError,
    RunLockedError,
    UnknownNameError,
    clean,
)
from heredity.agents.launchers import agent_key
from heredity.analysis.suite_results import suite_results
from heredity.cli.bars import columns, working
from heredity.cli.live import watcher_for
from heredity.cli.signals import InterruptedRunError, run_interruptibly
from heredity.configuration.config import Config
from heredity.experiments.best import BEST, best_files
from heredity.experiments.config import given_by, resolve, suite_file, suites
from heredity.experiments.config import load as load_config
from heredity.experiments.estimate import Estimate, estimate
from heredity.experiments.preflight import PreflightError, require
from heredity.experiments.progress import RunProgress, Silent
from heredity.experiments.results import is_run, is_suite, metrics_of, read_run, rebuild, rebuild_suite, report_of
from heredity.experiments.sealed import adopt_cases
from heredity.experiments.sequence import begin, seeds_of
from heredity.experiments.suite import (
    CONFIG_NAME,
    SuiteResult,
    forget_unbegun,
    new_suite_folder,
    open_suite,
    run_suite,
    with_jobs,
)
from heredity.pages.report import write_reports
from heredity.records.lock import RunLock
from heredity.results import text
from heredity.results.base import Interval
from heredity.results.run import HeldOut, RunResults, RunStatus
from heredity.results.suite import CellResults, Comparison, Entry, SuiteResults

P = ParamSpec("P")
T = TypeVar("T")


_MOST_TEXT = 1 << 20
"""Bytes up to which a file is looked at for text; weights are larger."""


class Files(Mapping[str, bytes]):
    """Files by path, each read at its first use: those of a checkpoint may take gigabytes."""

    def __init__(self, sources: Mapping[str, bytes | Path]) -> None:
        self._sources = sources

    def __getitem__(self, path: str) -> bytes:
        source = self._sources[path]
        return source if isinstance(source, bytes) else source.read_bytes()

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)

    def small(self) -> dict[str, bytes]:
        """Return the files of at most `_MOST_TEXT` bytes."""
        sizes = {path: len(s) if isinstance(s, bytes) else s.stat().st_size for path, s in self._sources.items()}
        return {path: self[path] for path, size in sizes.items() if size <= _MOST_TEXT}


@dataclass(frozen=True)
class Best:
    """The candidate that a run ended with.

    Attributes:
        folder: where its files are once the run's results are written.
        files: its files, path to content; a file is read at its first use.
    """

    folder: Path
    files: Files

    @property
    def text(self) -> str:
        """Its text: that of its only file, else each text file below a line with its path."""
        texts = {path: data.decode() for path, data in self.files.small().items() if _is_text(data)}
        return "".join(texts.values()) if len(self.files) == 1 else "\n".join(f"# {p}\n{t}" for p, t in texts.items())


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


@dataclass(frozen=True)
class Run:
    """One run of a suite: one evolver on one taskset with one seed.

    Attributes:
        folder: the run's folder.
        results: all its figures, as its metrics.json holds them.
    """

    folder: Path
    results: RunResults

    @property
    def id(self) -> str:
        """Its name, which is that of its folder."""
        return str(self.results.run_id or self.folder.name)

    @property
    def taskset(self) -> str | None:
        """Name of the taskset."""
        return self.results.taskset

    @property
    def evolver(self) -> str | None:
        """Name of the evolver."""
        return self.results.evolver.name

    @property
    def seed(self) -> int | None:
        """Seed of the evolver."""
        return self.results.seed

    @property
    def status(self) -> RunStatus:
        """`"finished"`, `"failed"` (the evolver did) or `"unfinished"`."""
        return self.results.status

    @property
    def heldout(self) -> HeldOut | None:
        """Held-out scores, one for each case; None before the run is judged."""
        return self.results.heldout

    @property
    def mean(self) -> float | None:
        """Mean held-out score, higher is better; None before the run is judged."""
        return self.heldout.mean if self.heldout else None

    @property
    def interval(self) -> Interval | None:
        """Confidence interval of `mean` over cases; None where none covers it."""
        return self.heldout.ci if self.heldout else None

    @cached_property
    def best(self) -> Best | None:
        """The candidate that the run ended with; None if it has not ended, or ended with none."""
        files = best_files(self.folder, self.results)
        return Best(self.folder / BEST, Files(files)) if files else None

    def __repr__(self) -> str:
        mean = "" if self.mean is None else f", mean={self.mean:.6g}"
        return f"<Run {self.id}: {self.status}{mean}>"


@dataclass(frozen=True)
class Standing:
    """A row of the leaderboard: one evolver, or the reference.

    Attributes:
        evolver: its label.
        entry: all that the leaderboard says of it.
        cells: its results on each taskset, by name.
    """

    evolver: str
    entry: Entry
    cells: Mapping[str, CellResults]

    @property
    def reference(self) -> bool:
        """True for the reference, with which evolvers are compared."""
        return self.entry.reference

    @property
    def rank(self) -> int | None:
        """Place, 1 for the best; None where nothing is ranked."""
        return self.entry.rank

    @property
    def rank_score(self) -> float | None:
        """Mean over tasksets of 1 (first) to 0 (last); None where nothing is ranked."""
        return self.entry.rank_score

    @property
    def mean(self) -> float | None:
        """Held-out mean over seeds, of a suite with one taskset; None with several, whose scores have no common unit."""
        return self._only.mean if self._only else None

    @property
    def interval(self) -> Interval | None:
        """Confidence interval of `mean`; None where there is none."""
        return self._only.ci if self._only else None

    @property
    def runs(self) -> int:
        """Number of its runs."""
        return self.entry.runs

    @property
    def _only(self) -> CellResults | None:
        return next(iter(self.cells.values())) if len(self.cells) == 1 else None


class Leaderboard(Sequence[Standing]):
    """The evolvers of a suite, best first; a notebook shows it as a table."""

    _HEADS = ("evolver", "rank", "rank score", "held-out mean", "interval", "runs")

    def __init__(self, metrics: SuiteResults) -> None:
        self._several = len(metrics.tasksets) > 1
        cells = [(taskset.taskset, cell) for taskset in metrics.tasksets for cell in taskset.cells]
        self._rows = [
            Standing(entry.evolver, entry, {t: cell for t, cell in cells if cell.evolver == entry.evolver})
            for entry in metrics.leaderboard
        ]

    def __getitem__(self, index: Any) -> Any:
        return self._rows[index]

    def __iter__(self) -> Iterator[Standing]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return columns(self._HEADS, self._cells()) if self._rows else "<Leaderboard: no run is judged yet>"

    def _repr_html_(self) -> str:
        def row(tag: str, cells: Sequence[str]) -> str:
            return f"<tr>{''.join(f'<{tag}>{html.escape(clean(cell))}</{tag}>' for cell in cells)}</tr>"

        body = "".join(row("td", cells) for cells in self._cells())
        return f"<table><thead>{row('th', self._HEADS)}</thead><tbody>{body}</tbody></table>"

    def _cells(self) -> list[tuple[str, ...]]:
        return [
            (
                row.evolver,
                "" if row.rank is None else str(row.rank),
                text.number(row.rank_score),
                "" if self._several else text.number(row.mean),
                "" if self._several else text.interval(*(row.interval or (None, None))),
                str(row.runs),
            )
            for row in self._rows
        ]


class Suite:
    """A suite of runs as its folder stood when it was read; `heredity.load` reads it again.

    Attributes:
        result: what the functions of `heredity.experiments` return, with failures and notes.
    """

    def __init__(self, result: SuiteResult) -> None:
        self.result = result

    @property
    def folder(self) -> Path:
        """The suite's folder."""
        return self.result.folder

    @property
    def name(self) -> str:
        """The suite's name."""
        return self.metrics.suite_id or self.folder.absolute().name

    @property
    def metrics(self) -> SuiteResults:
        """All figures of the suite, as metrics.json holds them."""
        return self.result.metrics

    @property
    def status(self) -> Literal["running", "unfinished", "failed", "finished"]:
        """Status of the suite now.

        `"running"` while a process works on it, `"unfinished"` if `heredity.resume` can continue it, `"failed"` if all its runs
        ended and some evolvers failed, else `"finished"`.
        """
        if RunLock.is_held(self.folder / "lock"):
            return "running"
        states = [run.status for run in self.runs]
        sequence = self.metrics.sequential
        undecided = sequence is not None and sequence.stopped is None
        if undecided or len(states) < self.metrics.runs or not states or RunStatus.UNFINISHED in states:
            return "unfinished"
        return "failed" if RunStatus.FAILED in states else "finished"

    @cached_property
    def leaderboard(self) -> Leaderboard:
        """Evolvers, best first."""
        return Leaderboard(self.metrics)

    @cached_property
    def runs(self) -> Sequence[Run]:
        """The runs that have been started."""
        return tuple(
            Run(self.folder if is_run(self.folder) else self.folder / "runs" / str(run.run_id), run)
            for run in self.result.runs
        )

    def compare(self, a: str, b: str, taskset: str | None = None) -> Comparison:
        """Return the paired comparison of two evolvers, as the report has it.

        Its `verdict`, `interval` and `p` are about the evolvers, `difference` is that of `a` less that of `b`.

        Args:
            a: label of an entry of the leaderboard.
            b: label of another.
            taskset: compare on this one (by default on all of the suite).

        Raises:
            UnknownNameError: if an entry or the taskset is not in the suite.
            ConfigError: if the two are not compared: nothing of the suite is ranked, or they share no judged runs.

        Example:
            >>> comparison = suite.compare("parametric", "random policy")
            >>> str(comparison.verdict), comparison.pairs
            ('cannot tell yet', 1)
        """
        names = [row.evolver for row in self.leaderboard]
        for name in (a, b):
            if name not in names:
                raise UnknownNameError("evolver", name, names)
        tasksets = [results.taskset for results in self.metrics.tasksets]
        if taskset is not None and taskset not in tasksets:
            raise UnknownNameError("taskset", taskset, tasksets)
        pool: Sequence[Comparison] = (
            self.metrics.comparisons.suite
            if taskset is None and len(tasksets) > 1
            else [c for c in self.metrics.comparisons.tasksets if c.taskset == (taskset or tasksets[0])]
        )
        for comparison in pool:
            if {comparison.a, comparison.b} == {a, b}:
                return comparison.seen_from(a)
        why = self.metrics.unranked_because or "name two different entries that share judged runs"
        raise ConfigError(f"{a} and {b} are not compared: {why}")

    def to_records(self) -> list[dict[str, Any]]:
        """Return a mapping of plain values for each run.

        Example:
            >>> [(row["evolver"], row["seed"], row["status"]) for row in suite.to_records()]
            [('parametric', 0, 'finished')]
        """
        return [
            {
                "run": run.id,
                "taskset": run.taskset,
                "evolver": run.evolver,
                "seed": run.seed,
                "status": str(run.status),
                "mean": run.mean,
                "low": run.interval[0] if run.interval else None,
                "high": run.interval[1] if run.interval else None,
                "reference_mean": run.results.reference.heldout_mean if run.results.reference else None,
                "validation_mean": run.results.selected.validation_mean if run.results.selected else None,
                "episodes": run.results.budget.used,
                "submissions": run.results.budget.submissions,
                "seconds": run.results.budget.wall_seconds,
            }
            for run in self.runs
        ]

    def to_frame(self, library: Literal["polars", "pandas"] = "polars") -> Any:
        """Return `to_records` as a DataFrame.

        Args:
            library: `"polars"`, which comes with Heredity, or `"pandas"`.

        Raises:
            MissingExtraError: if the library is not installed.

        Example:
            >>> suite.to_frame().select("evolver", "seed").rows()
            [('parametric', 0)]
        """
        if library not in ("polars", "pandas"):
            raise UnknownNameError("library of data frames", library, ("polars", "pandas"))
        try:
            module: Any = __import__(library)
        except ImportError as error:
            raise MissingExtraError(f"a DataFrame of {library}", install=library) from error
        rows = self.to_records()
        return module.DataFrame(rows, infer_schema_length=None) if library == "polars" else module.DataFrame(rows)

    def save_report(self, path: str | Path | None = None) -> Path:
        """Write the report and return its path.

        Args:
            path: a file that ends in `.html` or `.md`; by default everything derived is written anew into the suite's folder, as
                `heredity report` does.

        Raises:
            ConfigError: if the path ends in something else.
            RecordError: if it cannot be written.

        Example:
            >>> suite.save_report("report.html").name
            'report.html'
        """
        if path is None:
            rebuild(self.folder)
            return self.folder / "report.html"
        target = Path(path).expanduser()
        if target.suffix not in (".html", ".md"):
            raise ConfigError(f"{path} is neither HTML nor Markdown; end it in .html or .md")
        with EngineFolder() as folder:
            written = write_reports(folder, self.metrics, self.result.runs, report_of(self.metrics.protocol))
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                copyfile(written[target.suffix == ".md"], target)
            except OSError as error:
                raise RecordError(f"{target} cannot be written: {error.strerror}") from error
        return target

    def __repr__(self) -> str:
        head = f"<Suite {self.name}: {self.status}, {len(self.runs)} of {self.metrics.runs} runs, {self.folder}>"
        return f"{head}\n{self.leaderboard!r}"

    def _repr_html_(self) -> str:
        counted = f"{self.status}, {len(self.runs)} of {self.metrics.runs} runs"
        return f"<p><b>{html.escape(clean(self.name))}</b>: {counted}</p>{self.leaderboard._repr_html_()}"  # pyright: ignore[reportPrivateUsage]


@dataclass(frozen=True)
class Work(Generic[T]):
    """A suite that is prepared: checked, and its folder written.

    Attributes:
        folder: the suite's folder.
        config: its configuration.
        progress: whether progress is shown on stderr.
        conclude: makes the returned value (a suite, say) from the result.
        forget: the folder is new (and removed if nothing can begin).
        within: opens the context that it runs in, which may put errors into other words.
        only: ids of the runs to run; None for all.
    """

    folder: Path
    config: Config
    progress: bool
    conclude: Callable[[SuiteResult], T]
    forget: bool = False
    within: Callable[[], AbstractContextManager[None]] = nullcontext
    only: Collection[str] | None = None

    async def do(self) -> T:
        """Run the suite, or continue it."""
        resume = f"heredity resume {shlex.quote(str(self.folder))}"
        runs: list[RunProgress] = []
        words = report_of(self.config.run.protocol).words
        watcher = watcher_for(runs, self.folder, words) if self.progress else Silent()
        try:
            with self.within(), watcher:
                return self.conclude(await run_suite(self.folder, self.config, watcher, runs, only=self.only))
        except (ConfigError, MissingExtraError, IsolationError):
            if self.forget:
                forget_unbegun(self.folder)
            raise
        except RunLockedError:
            raise
        except RecordError as error:
            raise RecordError(f"{error}; then: {resume}") from error

    def wait(self) -> T:
        """Run the suite in a new event loop; Ctrl-C ends it in order.

        Raises:
            KeyboardInterrupt: if it was interrupted; its cause is an `InterruptedRunError`.
        """
        try:
            return run_interruptibly(self.do())
        except InterruptedRunError as error:
            resume = f"heredity resume {shlex.quote(str(self.folder))}"
            raise KeyboardInterrupt(f"interrupted; nothing is lost: {resume}") from error


def blocking(prepare: Callable[P, Work[T]], returns: type[T]) -> Callable[P, T]:
    """Return the function that prepares and waits, with the documentation of `prepare`."""

    @wraps(prepare)
    def function(*args: P.args, **kwargs: P.kwargs) -> T:
        return prepare(*args, **kwargs).wait()

    return _documented(function, prepare, returns)


def awaited(prepare: Callable[P, Work[T]], returns: type[T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Return the async twin, which prepares in a thread; cancelling it leaves a suite that can be continued."""

    @wraps(prepare)
    async def function(*args: P.args, **kwargs: P.kwargs) -> T:
        return await (await asyncio.to_thread(prepare, *args, **kwargs)).do()

    return _documented(function, prepare, returns, "_async")


def _documented(
    function: Callable[P, Any], prepare: Callable[P, Work[Any]], returns: type[Any], suffix: str = ""
) -> Any:
    described: Any = function
    own = prepare.__name__.lstrip("_")
    described.__name__ = described.__qualname__ = own + suffix
    described.__module__ = "heredity"
    described.__signature__ = signature(prepare).replace(return_annotation=returns.__name__)
    if suffix:
        text_of = (prepare.__doc__ or "").replace(f"heredity.{own}(", f"await heredity.{own}{suffix}(")
        described.__doc__ = f"Await what `heredity.{own}` does in a running event loop.\n\n{text_of}"
    return described


def checked(config: Config, folder: Path, *, progress: bool, given: Collection[str] | None = None) -> None:
    """Refuse what cannot run here, with everything that is missing; write the notes to stderr."""
    with working("checking that everything it needs is here") if progress else nullcontext():
        notes = require(config, folder, given=given)
    for note in notes:
        sys.stderr.write(clean(" ".join(note.splitlines())) + "\n")


def _configured(
    suite: str | Path | Mapping[str, Any] | Config,
    overrides: Mapping[str, Any] | Sequence[str],
    changes: Mapping[str, Any],
) -> Config:
    if isinstance(overrides, Mapping):
        overrides, changes = (), {**overrides, **changes}
    if isinstance(suite, str | Path):
        return load_config(suite_file(str(suite)), overrides, changes)
    if isinstance(suite, Config):
        suite = suite.model_dump(exclude_none=True)
    return resolve(suite, overrides, changes)


def _keys_set(
    suite: str | Path | Mapping[str, Any] | Config,
    overrides: Mapping[str, Any] | Sequence[str],
    changes: Mapping[str, Any],
) -> Collection[str] | None:
    """Return the keys that a user set: the overrides of an installed suite, or None for every key of an own file."""
    if not isinstance(suite, str | Path) or suite_file(str(suite)) not in suites().values():
        return None
    own = overrides if isinstance(overrides, Mapping) else given_by(overrides)
    return [key.removeprefix("matrix.") for key in {**own, **changes}]


def dry_run(
    suite: str | Path | Mapping[str, Any] | Config,
    overrides: Mapping[str, Any] | Sequence[str] = (),
    *,
    agent: str | None = None,
    folder: str | Path = "runs",
    unsafe: bool = False,
) -> tuple[Estimate, list[str]]:
    """Return the estimated calls and cost of a suite, and a line for each thing that it lacks here; nothing is started.

    Args:
        suite: name, path, mapping or configuration of the suite.
        overrides: as for `run`.
        agent: coding agent instead of the suite's evolvers.
        folder: where suites are kept; earlier ones are measured.
        unsafe: do not require isolation.

    Raises:
        ConfigError: if the configuration is wrong.
    """
    changes = _changes(agent, None, unsafe=unsafe)
    config, root = _configured(suite, overrides, changes), Path(folder).expanduser()
    made, missing = estimate(config, root), list[str]()
    try:
        require(config, new_suite_folder(root, config), given=_keys_set(suite, overrides, changes))
    except PreflightError as error:
        missing = [*error.lines]
    return made, missing


def _changes(agent: str | None, jobs: int | None, *, unsafe: bool) -> dict[str, Any]:
    changes: dict[str, Any] = {} if agent is None else {f"evolver.{agent_key(agent)}": agent}
    changes |= {"engine.parallel_runs": jobs} if jobs else {}
    return changes | ({"engine.unsafe": True} if unsafe else {})


def _run(
    suite: str | Path | Mapping[str, Any] | Config,
    overrides: Mapping[str, Any] | Sequence[str] = (),
    *,
    agent: str | None = None,
    folder: str | Path = "runs",
    out: str | Path | None = None,
    cases: str | Path | None = None,
    until: str = "",
    most_seeds: int | None = None,
    jobs: int | None = None,
    unsafe: bool = False,
    progress: bool = True,
    canary: bool = False,
    approve: Callable[[Estimate], object] | None = None,
) -> Work[Suite]:
    """Run a suite, or continue the one in `out`, and return its results.

    It works in a notebook, too. Ctrl-C ends the runs in order: `heredity.resume` continues them.

    Args:
        suite: name of an installed suite, path of a TOML file, a mapping of sections, or a configuration.
        overrides: such as `{"budget.episodes": 64}`, or `["budget.episodes=64"]`.
        agent: coding agent instead of the suite's evolvers: a name such as `"claude-code"`, a folder, or a command.
        folder: where suites are kept; each gets a new folder (named after it and the time).
        out: this suite's own folder; continued if it is there already.
        cases: judge on the hidden cases of the suite in this folder (to compare the two).
        until: run two entries seed after seed until told apart, such as `"gepa vs random decided"`.
        most_seeds: with `until`: run no more seeds (default 32).
        jobs: runs at the same time.
        unsafe: run with the isolation that works here, rather than refuse.
        progress: show progress on stderr.
        canary: run only the run that is estimated to cost most; `heredity.resume` runs the others.
        approve: called with the estimate of calls and cost before anything starts; any exception stops the suite.

    Raises:
        ConfigError: if the configuration is wrong or lacks something (nothing was started).
        IsolationError: if this machine cannot isolate programs.
        RecordError: if the folder cannot be written, or another process works on it.

    Example:
        >>> suite = heredity.run(
        ...     {
        ...         "run": {"name": "first", "tasksets": ["gymnasium/CartPole-v1"]},
        ...         "evolver": {"method": "parametric"},
        ...         "budget": {"episodes": 8},
        ...         "views": {"validation": 2, "heldout": 4},
        ...     },
        ...     out="runs/first",
        ...     progress=False,
        ... )
        >>> suite.status, sorted(row.evolver for row in suite.leaderboard)
        ('finished', ['parametric', 'random policy'])
    """
    changes = _changes(agent, jobs, unsafe=unsafe)
    config = _configured(suite, overrides, changes)
    if until and canary:
        raise ConfigError("--canary runs one run of a suite, and --until seed after seed; leave one of them out")
    if until:
        changes["run.seeds"] = seeds_of(config.run.seeds, most_seeds)
        config = _configured(suite, overrides, changes)
    elif most_seeds is not None:
        raise ConfigError('--most-seeds goes with --until; add --until "A vs B decided", or set run.seeds')
    path = Path(out).expanduser() if out is not None else new_suite_folder(Path(folder).expanduser(), config)
    fresh = not path.exists()
    checked(config, path, progress=progress, given=_keys_set(suite, overrides, changes))
    # Earlier suites lie next to this one.
    made = estimate(config, path.parent) if canary or approve is not None else None
    if made is not None and approve is not None:
        approve(made)
    if cases is not None:
        adopt_cases(path, Path(cases))
    config = _open(path, config, until, fresh=fresh)
    return Work(path, config, progress, Suite, fresh, only=[made.first] if canary and made is not None else None)


def _open(path: Path, config: Config, until: str, *, fresh: bool) -> Config:
    """Write a suite's folder and return its configuration; a new folder that cannot be begun is removed."""
    try:
        if until:
            begin(path, config, until)
        return open_suite(path, config)
    except ConfigError:
        if fresh:
            forget_unbegun(path)
        raise


def _resume(folder: str | Path, *, jobs: int | None = None, progress: bool = True) -> Work[Suite]:
    """Continue an interrupted suite (nothing is run or charged twice).

    Args:
        folder: the suite's folder.
        jobs: runs at the same time.
        progress: show progress on stderr.

    Raises:
        ConfigError: if the folder holds no suite.
        RecordError: if its records are damaged, or another process works on it.

    Example:
        >>> heredity.resume("runs/first", progress=False).status
        'finished'
    """
    path = Path(folder)
    config = open_suite(path)
    checked(config, path, progress=progress, given=())
    return Work(path, with_jobs(config, jobs) if jobs else config, progress, Suite)


def load(folder: str | Path) -> Suite:
    """Read a suite, or a single run, from its folder (finished, interrupted or running). Nothing is written.

    Args:
        folder: the suite's or the run's folder.

    Raises:
        ConfigError: if the folder holds neither.
        DamagedRecordError: if it is a run whose journal is damaged; damaged runs of a suite are in `result.failures`.

    Example:
        >>> suite = heredity.load("runs/first")
        >>> sorted(suite.runs[0].best.files)
        ['policy.py']
    """
    path = Path(folder).expanduser()
    if is_suite(path) or (path / CONFIG_NAME).is_file():
        rebuilt = rebuild_suite(path, write=False)
        return Suite(SuiteResult(path, rebuilt.metrics, rebuilt.runs, rebuilt.unreadable, {}, {}))
    if not is_run(path):
        raise ConfigError(f"{path} holds neither a run nor a suite; give a folder below runs/")
    run = read_run(path).metrics
    return Suite(SuiteResult(path, suite_results([run], metrics_of, path.absolute().name), [run], {}, {}, {}))


async def load_async(folder: str | Path) -> Suite:
    """Await what `heredity.load` does; records are read in a thread.

    Example:
        >>> suite = await heredity.load_async("runs/first")
    """
    return await asyncio.to_thread(load, folder)


load.__module__ = load_async.__module__ = "heredity"
run, run_async = blocking(_run, Suite), awaited(_run, Suite)
resume, resume_async = blocking(_resume, Suite), awaited(_resume, Suite)
