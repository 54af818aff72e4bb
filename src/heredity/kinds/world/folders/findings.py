"""The audit's evidence: repeated plays of a folder's levels, and its report of findings, one of each kind."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, Self, cast

from heredity._core.errors import ConfigError, HeredityError
from heredity._core.ids import digest_bytes, digest_json, generator
from heredity._core.outside import json_value, read_text
from heredity.engine.actor import ToolResult
from heredity.engine.program_process import UNANSWERED
from heredity.engine.programs import Program, SandboxedPrograms
from heredity.engine.rollout import RolloutError
from heredity.kinds.world.folders.folder import WorldFolder, enumerate_actions, questions
from heredity.kinds.world.process import GUEST, raise_failure, read_world_folder
from heredity.results.status import Status

PRACTICE = 2_000
"""Number of steps that `search` may practise on a level, excluding probes."""
AGENTS = ("random", "search")
"""Agents of `heredity.kinds.world.commands.episodes` that also play folders; `reference` needs rules with a solution."""


async def play_folder(name: str, spec: Mapping[str, Any], run: int, programs: SandboxedPrograms) -> dict[str, Any]:
    """Play a level of a folder.

    Args:
        name: `"random"` draws from the actions that the list allows, as far as it can be read; `"search"` plays the
            best sequence found by a search on the same level, which may read the state.
        spec: the spec of a task of `FolderTaskset`.
        run: source of the players' chance.
        programs: the sandbox.

    Returns:
        `score` (total over the declared bound), `total`, `steps`, `practice`, `cost_usd`, and if the world fails
        `status` and `failure`.

    Raises:
        ConfigError: if the agent cannot play folders.
        UnjudgedError: if the world only waits, so that it cannot be judged.
    """
    if name not in AGENTS:
        raise ConfigError(f"the agent {name} cannot play world folders; use {' or '.join(AGENTS)}, or omit the folders")
    folder = read_world_folder(spec["folder"], spec["digest"])
    level, seed, bound, practice = spec["level"], spec["seed"], spec["bound"], 0
    async with Plays(folder, programs) as plays:
        if name == "search":
            asked = {**questions(folder), "upper_bound": bound, "steps": PRACTICE, "draws": run}
            explored = await plays.explore(level, asked, seed)
            actions, practice = explored.best, explored.steps
        else:
            allowed, _ = enumerate_actions(folder.actions)
            draws = generator(run, "agent", "random", folder.name, str(level))
            actions = tuple(allowed[int(draws.integers(len(allowed)))] for _ in range(folder.max_steps))
        played = await plays.play(level, actions, seed)
    row = {"score": played.total / bound, "total": played.total, "steps": len(played.rewards), "practice": practice}
    failed = {"score": min(0.0, played.total / bound), "status": Status.ENVIRONMENT_ERROR, "failure": played.failed}
    return {**row, "cost_usd": 0.0, **(failed if played.failed else {})}


Action = Mapping[str, Any]
PLAY_S = 10.0
"""CPU seconds per play; the constants below are in the same unit."""
GENERATE_S = 60.0
"""CPU seconds for generating and playing a level; some generators search."""
EXPLORE_S = 300.0
"""CPU seconds for the search of one level."""
_TRIES = 2
"""Number of tries of a play that only waits."""
_MOST_ENDS = 4
"""After this many processes have died in plays, no other is started."""
_FIELDS = {"first": str, "ended": bool, "steps": list, "failed": str, "moment": str, "still": str}


class UnjudgedError(HeredityError):
    """A play that only waited: neither it nor any later one says anything about the world."""


@dataclass(frozen=True, slots=True)
class Played:
    """The result of a play.

    Attributes:
        level: the `world_id`; None if it was generated.
        seed: seed of its chance.
        actions: the actions taken, including one that failed.
        failed: the exception, or how the process ended; `""` if it succeeded.
        started: True if the level could be started.
        ended: True if the episode is over.
        rewards: of each step.
        stream: digests of the results, from the start, often including the full state; `told`: of the player's part.
        moment: digest of everything that affects the future, excluding the history; `still`: the same without time and
            chance.
    """

    level: str | None
    seed: int
    actions: tuple[Action, ...]
    failed: str = ""
    started: bool = True
    ended: bool = False
    rewards: tuple[float, ...] = ()
    stream: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    moment: str = ""
    still: str = ""

    @property
    def total(self) -> float:
        """The sum of the rewards."""
        return sum(self.rewards)


class Plays:
    """A process that plays levels, replaced whenever it dies.

    Args:
        folder: the folder.
        programs: the sandbox.
        watch: record which files are opened.

    Attributes:
        count: number of plays so far.
    """

    def __init__(self, folder: WorldFolder, programs: SandboxedPrograms, *, watch: bool = False) -> None:
        self._folder, self._programs, self._watch = folder, programs, watch
        self._stack = AsyncExitStack()
        self._program: Program | None = None
        self.count = self._ends = 0

    async def play(self, level: str | None, actions: Sequence[Action], seed: int = 0) -> Played:
        """Start a level and take actions until it ends or fails.

        Raises:
            UnjudgedError: if the play cannot be judged.
        """
        self.count += 1
        taken = tuple(actions)
        unknown = Played(level, seed, taken, started=False)
        try:
            seconds = PLAY_S if level is not None else GENERATE_S
            value = await self._call("play", {"level": level, "seed": seed, "actions": taken}, seconds)
        except RolloutError as error:
            return replace(unknown, failed=str(error))
        if not _is_play(value):
            return replace(unknown, failed=f"the world's process answered {str(value)[:80]}")
        rewards = tuple(reward for reward, _, _ in value["steps"])
        return Played(
            level,
            seed,
            taken[: len(rewards) + bool(value["failed"])],
            failed=value["failed"],
            ended=value["ended"],
            rewards=rewards,
            stream=(value["first"], *(seen for _, seen, _ in value["steps"])),
            messages=(value["first"], *(text for _, _, text in value["steps"])),
            moment=value["moment"],
            still=value["still"],
        )

    async def touched(self) -> list[tuple[str, str]]:
        """Return the files and other resources touched by the folder's code (see `World.touched` in the guest)."""
        try:
            return [(str(what), str(path)) for what, path in await self._call("touched", {})]
        except RolloutError:
            return []

    async def explore(self, level: str | None, asked: Mapping[str, Any], seed: int = 0) -> Explored:
        """Search a level (see `world_folder_explorer.explore` in the guest)."""
        try:
            return _parse_explored(
                await self._call("explore", {"level": level, "seed": seed, "asked": asked}, EXPLORE_S)
            )
        except RolloutError as error:
            return Explored(failed=str(error))

    async def _call(self, method: str, arguments: Mapping[str, Any], seconds: float = PLAY_S) -> Any:
        reason = ""
        for _ in range(_TRIES):
            result = await self._request(method, arguments, seconds)
            if result.error != UNANSWERED:
                raise_failure(result)
                return result.value
            reason = result.message
        raise UnjudgedError(f"could not be judged, tried {_TRIES} times: {reason}")

    async def _request(self, method: str, arguments: Mapping[str, Any], seconds: float) -> ToolResult:
        if self._program is None or not self._program.alive:
            if self._ends > _MOST_ENDS:
                raise RolloutError(f"not tried: its process has ended {self._ends} times before")
            self._ends += 1
            await self._stack.aclose()
            given = {"name": self._folder.name, "watch": self._watch, "often": not self._watch}
            self._program = await self._stack.enter_async_context(
                self._programs.open(self._folder.tree, GUEST, given, processor=True)
            )
        if self._program.opened.error:
            return self._program.opened
        try:
            return await self._program.call(method, arguments, seconds=seconds)
        except ConfigError as error:
            raise RolloutError(f"its input cannot be sent: {error}") from error

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()


@dataclass(frozen=True, slots=True)
class Explored:
    """The claims of a level's search. The environment runs in the answering process, so they are unverified.

    Attributes:
        best: actions of the best-paid play; `abused`: of a play that may include invalid actions, or None.
        moments: number of states reached by an exhaustive search; `exhausted`: True if the search found all; `most`:
            the maximum reward then.
        steps: number of steps taken.
        claims: `kind`, `text`, `actions`, `prefix` (number of actions that lead there) and `cycle` (length of a round)
            of each.
        crashes: exceptions with the actions that led to them; `malformed`: the same with the defect of the last action.
        failed: reason why claims are missing; `""` if they are there.
    """

    best: tuple[Action, ...] = ()
    abused: tuple[Action, ...] | None = None
    moments: int = 0
    exhausted: bool = False
    most: float = 0.0
    steps: int = 0
    claims: tuple[Mapping[str, Any], ...] = ()
    crashes: tuple[tuple[str, tuple[Action, ...]], ...] = ()
    malformed: tuple[tuple[str, str, tuple[Action, ...]], ...] = ()
    failed: str = ""


def _parse_explored(value: Any) -> Explored:
    """Parse the result of `World.explore`.

    Raises:
        RolloutError: if it is malformed.
    """
    try:
        abused = value["abused"]
        return Explored(
            tuple(value["best"]),
            tuple(abused[1]) if abused else None,
            int(value["moments"]),
            value["exhausted"] is True,
            float(value["most"]),
            int(value["steps"]),
            tuple({**claim, "actions": tuple(claim["actions"])} for claim in value["claims"]),
            tuple((str(failed), tuple(actions)) for failed, actions in value["crashes"]),
            tuple((str(failed), str(what), tuple(actions)) for failed, what, actions in value["malformed"]),
        )
    except (LookupError, TypeError, ValueError) as error:
        raise RolloutError(f"the world's process answered a search with {str(value)[:80]}") from error


def _is_play(value: Any) -> bool:
    """Return True if a value has the format of `World.play`; the answering process runs the environment, so it may be anything."""
    if not isinstance(value, dict) or not all(isinstance(value.get(key), kind) for key, kind in _FIELDS.items()):
        return False
    return all(
        isinstance(step, list) and [type(part) for part in cast(list[object], step)] == [float, str, str]
        for step in value["steps"]
    )


Row = dict[str, Any]


def digest_of(folder: WorldFolder, steps: int, levels: Sequence[str]) -> str:
    """Return the digest of everything that a report depends on: the folder, the options, and the auditing code."""
    return digest_json([folder.digest, steps, sorted(levels), _code()])


def read_report(out: Path, folder: WorldFolder, digest: str) -> Row | None:
    """Return the stored report of a folder, as JSON values; None if there is none or it is outdated."""
    try:
        row = json_value(read_text(_path(out, folder.path)))
    except (OSError, ValueError):
        return None
    same = isinstance(row, dict) and row.get("digest") == digest and row.get("folder") == str(folder.path)
    return row if same and not row.get("unjudged") else None


def keep(out: Path, report: FolderReport, digest: str) -> Row:
    """Store a report, and return it as JSON values."""
    out.mkdir(parents=True, exist_ok=True)
    row = {**report.to_json(), "digest": digest}
    path = _path(out, Path(report.folder))
    written = path.with_suffix(".part")
    written.write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
    written.replace(path)  # Written atomically, so that a kill leaves no partial report.
    return row


def _path(out: Path, folder: Path) -> Path:
    return out / f"{folder.name}.json"


@cache
def _code() -> str:
    paths = sorted(Path(__file__).parent.glob("*.py"))
    return digest_json({path.name: digest_bytes(path.read_bytes()) for path in paths})


SLACK = 5e-4
"""Relative tolerance before a total counts as beating a bound: written bounds are rounded."""
_MOST_OTHERS = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """A kind of finding, with its clearest occurrence.

    Attributes:
        kind: such as `"invalid-income"`.
        fault: True for a fault; the others are notes.
        text: description of the clearest occurrence.
        level: the `world_id` there, `""` if it is not about a level.
        seed: the seed there; None if no play is needed to reproduce it.
        actions: the actions that reproduce it, `[]` if none.
        levels: all affected levels.
        others: further cases of the kind.
    """

    kind: str
    fault: bool
    text: str
    level: str = ""
    seed: int | None = None
    actions: Sequence[Action] = ()
    levels: Sequence[str] = ()
    others: Sequence[str] = ()

    @property
    def reproduction(self) -> str:
        """Level, seed and actions in one line, repeated actions merged."""
        runs = [(action, len(list(same))) for action, same in groupby(self.actions, key=repr)]
        steps = ", ".join(f"{action} x {count}" if count > 1 else action for action, count in runs)
        seed = "" if self.seed is None else f", seed {self.seed}"
        return f"{self.level}{seed}: {steps}" if steps else f"{self.level}{seed}"


class FindingList:
    """Collects findings and merges those of a kind: the clearest one is kept, then the first."""

    def __init__(self) -> None:
        self._rows: dict[str, list[tuple[float, Finding]]] = {}

    def add(self, kind: str, fault: bool, text: str, played: Played | None = None, weight: float = 0.0) -> None:
        """Record a finding; `weight` is its clarity."""
        level, seed, actions = "", None, ()
        if played is not None:
            level, seed, actions = played.level or "a generated level", played.seed, played.actions
        self._rows.setdefault(kind, []).append((weight, Finding(kind, fault, text, level, seed, actions)))

    def of_level(self, kind: str, fault: bool, text: str, level: str) -> None:
        """Record a finding about a level that needs no play to reproduce."""
        self._rows.setdefault(kind, []).append((0.0, Finding(kind, fault, text, level)))

    def all(self) -> list[Finding]:
        """Return one finding of each kind, faults first."""
        merged = [_merged(rows) for rows in self._rows.values()]
        return sorted(merged, key=lambda finding: not finding.fault)


def _merged(rows: Sequence[tuple[float, Finding]]) -> Finding:
    first = max(rows, key=lambda row: row[0])[1]
    levels = tuple(dict.fromkeys(finding.level for _, finding in rows if finding.level))
    others = tuple(dict.fromkeys(finding.text for _, finding in rows if finding.text != first.text))[:_MOST_OTHERS]
    return Finding(first.kind, first.fault, first.text, first.level, first.seed, first.actions, levels, others)


@dataclass(slots=True)
class LevelRow:
    """The results for a level.

    Attributes:
        level: the `world_id`.
        upper_bound: the declared one; None if there is none.
        best: the best-paid play of valid actions.
        abused: a play that paid more, with invalid actions (None if there is none).
        moments: number of states reached by an exhaustive search, ignoring time.
        most: the maximum reward, if all states were reached; else None.
        solvable: `"shown"`: a play reached the bound; `"in part"`: one earned something; `"unsolvable"`: an exhaustive
            search found no reward; else `"not shown"`.
    """

    level: str
    upper_bound: float | None
    best: Played | None = None
    abused: Played | None = None
    moments: int = 0
    most: float | None = None
    solvable: str = "not shown"

    @property
    def corrected(self) -> float | None:
        """The reward proved reachable by valid actions, if it is exact or exceeds the declared bound."""
        best = self.best.total if self.best else 0.0
        if self.most is not None:
            return self.most
        return best if self.upper_bound is None or best > self.upper_bound * (1 + SLACK) else self.upper_bound

    @property
    def basis(self) -> str:
        """The basis of `corrected`: `"exact"`, `"at least"` (it was collected), or `"declared"` (not refuted)."""
        if self.most is not None:
            return "exact"
        return "declared" if self.corrected == self.upper_bound else "at least"

    def to_json(self) -> dict[str, Any]:
        """Return the row as JSON values."""
        best = self.best.total if self.best else None
        share = best / self.upper_bound if best is not None and self.upper_bound else None
        head = {"level": self.level, "bound": self.upper_bound, "best": best, "share": share}
        more = {"abused": self.abused.total if self.abused else None, "moments": self.moments}
        return {**head, **more, "corrected": self.corrected, "basis": self.basis, "solvable": self.solvable}


@dataclass(slots=True)
class FolderReport:
    """The audit of a folder.

    Attributes:
        folder: its path.
        found: the findings.
        levels: one row per level; `copies`: those whose file has the same contents as another.
        plays: number of plays, and `steps` of searches; `seconds`: duration.
        unjudged: reason why it did not finish, so that missing findings mean nothing; `""` if it did.
    """

    folder: str
    found: FindingList = field(default_factory=FindingList)
    levels: list[LevelRow] = field(default_factory=list[LevelRow])
    copies: set[str] = field(default_factory=set[str])
    plays: int = 0
    steps: int = 0
    seconds: float = 0.0
    unjudged: str = ""

    @property
    def findings(self) -> list[Finding]:
        """One finding of each kind, faults first."""
        return self.found.all()

    @property
    def faults(self) -> int:
        """Number of kinds of faults."""
        return sum(finding.fault for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "folder": self.folder,
            "faults": self.faults,
            "plays": self.plays,
            "steps": self.steps,
            "seconds": self.seconds,
            "unjudged": self.unjudged,
            "findings": [asdict(finding) for finding in self.findings],
            "levels": [row.to_json() for row in self.levels],
        }
