"""Result types for an agent's code: revisions, evidence of training, and audit findings."""

from __future__ import annotations

from enum import StrEnum

from heredity.results.base import Result


class Grade(StrEnum):
    """Severity of an audit finding: a breach breaks the mode; a look may be harmless."""

    BREACH = "breach"
    LOOK = "look"


class AuditVerdict(StrEnum):
    """Verdict of the audit; unknown if some of the code is unknown."""

    KEPT = "kept"
    BROKEN = "broken"
    UNKNOWN = "unknown"


class Excerpt(Result):
    """Lines of a file, from `line` on."""

    file: str
    line: int
    text: str


class Evidence(Result):
    """A line that is evidence of the code's behaviour.

    Attributes:
        component: `"SFT"`, `"GRPO"`, `"PPO"`, `"DPO"`, `"RL"` (another policy gradient), `"sampling"` (the model writes
            its training data), `"environment"` (steps through one), or `"training"` (a loss that is not recognised).
        file: path in the folder.
        line: counts from 1.
        text: the line.
        why: its meaning.
    """

    component: str
    file: str
    line: int
    text: str
    why: str


class Revision(Result):
    """A version of the agent's code.

    Attributes:
        revision: its number.
        at_s: when it was first seen, in seconds of the run's clock.
        blob: digest of its archive; None if it was not kept.
        reason: the files not kept, and why; None if all were.
        files: path to lines; None if the code is unknown, like route, samples and environment.
        route: its training route, from the code alone.
        components: its training objectives.
        samples: True if the model writes answers.
        environment: True if it steps through an environment.
        evidence: the lines that show these.
        unreadable: files that could not be parsed.
    """

    revision: int
    at_s: float | None
    blob: str | None
    reason: str | None
    files: dict[str, int] | None
    route: str | None
    components: list[str]
    samples: bool | None
    environment: bool | None
    evidence: list[Evidence]
    unreadable: list[str]


class Finding(Result):
    """An audit finding: its severity, description, and place in a revision."""

    grade: Grade
    what: str
    revision: int
    file: str = ""
    line: int | None = None
    text: str = ""


class Audit(Result):
    """Verdict on the operating mode; breaches come first among the findings."""

    mode: str
    verdict: AuditVerdict
    findings: list[Finding]
