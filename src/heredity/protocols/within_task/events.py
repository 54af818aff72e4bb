"""Journal events of evolution within tasks, in addition to those of every protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired

from typing_extensions import TypedDict

from heredity.records.events import RUN_STARTED, EventKind, RunStarted, by_name


class WithinStarted(RunStarted):
    """Description of a run, with the settings of its rounds; `oracle` says that ground truth was fed back."""

    within: Mapping[str, Any]
    oracle: bool


class WithinProposed(TypedDict):
    """One answer or failed proposal, and whether it was committed.

    `task` is the task's index. `round` 0 is the first answer; `stage` counts the edits of a round (prompt, then solution), `draw`
    its proposals. `submit_id` is null without a submission. `seen` is the score that the agent saw, null for none, and `told`
    the feedback in words; ground truth is only in the submission's outcome. Tokens, calls and cost cover this answer and, at the
    first draw, making the proposals.
    """

    task: int
    round: int
    stage: int
    draw: int
    submit_id: int | None
    candidate: str
    status: str
    answer: str
    seen: float | None
    told: str
    accepted: bool
    why: str
    edits: Sequence[str]
    tokens: int | None
    calls: int
    cost_usd: float | None


class WithinEnded(TypedDict):
    """The end of a task's rounds: `solved` as far as the agent can see, `rounds`, `unanswered`, or `budget`."""

    task: int
    why: str


class WithinSampled(TypedDict):
    """Independent samples of a task: the first `taken` outcomes of the submission used at least as many tokens as the rounds.

    `chosen` is the position of the sample chosen by visible feedback, for the reason `why`.
    """

    task: int
    submit_id: int
    taken: int
    chosen: int
    why: str
    tokens: int | None
    calls: int
    cost_usd: float | None


class RankedProgram(TypedDict):
    """Rank of an accepted program among the stored solutions of its problem, in percent (ARB and AMB), and its stability.

    `arb_range` and `amb_range` are the ranks in single repeats, `seconds` the time of each repeat; `noise` is about the stored
    solutions, by `time` and `memory`: the share of repeats in which one changes place (`moved`), and the spread of a rank.
    """

    arb: float
    amb: float
    arb_range: Sequence[float]
    amb_range: Sequence[float]
    among: int
    transferred: bool
    seconds: Sequence[float]
    noise: Mapping[str, Mapping[str, float]] | None


class JudgedProgram(TypedDict):
    """Measurements of a program: `cpu_s` on its slowest case, maximum `peak_bytes`, and `rank` if it has one."""

    verdict: str
    passed: int
    cases: int
    cpu_s: float
    peak_bytes: int
    rank: NotRequired[RankedProgram]


class WithinJudged(TypedDict):
    """Measurements of the commit after each round of a task; null where unmeasured.

    `sample` is the chosen sample among those bought with the same tokens.
    """

    task: int
    attributes: Mapping[str, str]
    rounds: Sequence[JudgedProgram | None]
    sample: NotRequired[JudgedProgram | None]


WITHIN_PROPOSED = EventKind("within.proposed", WithinProposed)
WITHIN_ENDED = EventKind("within.ended", WithinEnded)
WITHIN_SAMPLED = EventKind("within.sampled", WithinSampled)

WITHIN_JUDGED = EventKind("within.judged", WithinJudged)

EVENTS = by_name(
    EventKind(RUN_STARTED.name, WithinStarted), WITHIN_PROPOSED, WITHIN_ENDED, WITHIN_SAMPLED, WITHIN_JUDGED
)
