"""What a run of evolution within tasks journals besides the events of every protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from heredity.records.events import EventKind, by_name


class WithinProposed(TypedDict):
    """One answer, or a proposal that came to none, and whether it was committed.

    `task` is the task's index. `round` 0 is the first answer; `stage` counts the edits of a round (prompt, then solution), `draw`
    its proposals. `submit_id` is null where nothing was submitted. `seen` is the score that the agent could see, null if it saw
    none, and `told` the words; ground truth stands in the submission's outcome alone. Tokens, calls and cost are those of this
    answer and, at the first draw, of making the proposals.
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
    """A task's rounds are over: `solved` by what was seen, `rounds`, `unanswered`, or `budget`."""

    task: int
    why: str


class WithinSampled(TypedDict):
    """Independent samples of a task: the first `taken` outcomes of the submission used at least as many tokens as the rounds.

    `chosen` is the position of the one that was chosen by what could be seen, for the reason `why`.
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
    """Where an accepted program stands among the stored solutions of its problem, in percent (ARB and AMB), and how steadily.

    `arb_range` and `amb_range` are what single repeats give, `seconds` what it took in each; `noise` is of the stored solutions, by
    `time` and `memory`: in what share of repeats one has another place (`moved`), and how far a rank is from repeat to repeat.
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
    """What a judge of programs found of one: `cpu_s` on its slowest case, `peak_bytes` on any; `rank` of those that have one."""

    verdict: str
    passed: int
    cases: int
    cpu_s: float
    peak_bytes: int
    rank: NotRequired[RankedProgram]


class WithinJudged(TypedDict):
    """What was committed after each round of a task, as the judge of programs found it; null where it found nothing.

    `sample` is the chosen one of the samples that the same tokens bought.
    """

    task: int
    attributes: Mapping[str, str]
    rounds: Sequence[JudgedProgram | None]
    sample: NotRequired[JudgedProgram | None]


WITHIN_PROPOSED = EventKind("within.proposed", WithinProposed)
WITHIN_ENDED = EventKind("within.ended", WithinEnded)
WITHIN_SAMPLED = EventKind("within.sampled", WithinSampled)

WITHIN_JUDGED = EventKind("within.judged", WithinJudged)

EVENTS = by_name(WITHIN_PROPOSED, WITHIN_ENDED, WITHIN_SAMPLED, WITHIN_JUDGED)
