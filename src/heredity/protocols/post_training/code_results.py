"""What is known of an agent's code: its revisions, what shows how they train, and what an audit found in them."""

from __future__ import annotations

from enum import StrEnum

from heredity.results.base import Result


class Grade(StrEnum):
    """How grave a finding of an audit is: a breach breaks the mode, a thing to look at may be harmless."""

    BREACH = "breach"
    LOOK = "look"


class AuditVerdict(StrEnum):
    """Whether a workspace kept to its mode; unknown where not all of its code is."""

    KEPT = "kept"
    BROKEN = "broken"
    UNKNOWN = "unknown"


class Excerpt(Result):
    """Lines of a file, from `line` on."""

    file: str
    line: int
    text: str


class Evidence(Result):
    """A line that shows what code does.

    Attributes:
        component: `"SFT"`, `"GRPO"`, `"PPO"`, `"DPO"`, `"RL"` (another policy gradient), `"sampling"` (the model writes what
            it trains on), `"environment"` (steps through one), or `"training"` (a loss that is not recognised).
        file: path in the folder.
        line: counts from 1.
        text: the line.
        why: what it shows.
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
        at_s: when it was first seen.
        blob: digest of its archive; None where it was not kept.
        reason: which files were not kept, and why; None if all were.
        files: path to lines; None where the code is not known, like route, samples and environment.
        route: what it trains by, as the code alone says.
        components: what it optimises.
        samples: whether it lets the model write answers.
        environment: whether it steps through an environment.
        evidence: the lines that show it.
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
    """Something an audit found: how grave it is, what, and where in which revision."""

    grade: Grade
    what: str
    revision: int
    file: str = ""
    line: int | None = None
    text: str = ""


class Audit(Result):
    """Whether the workspace kept to its mode; of the findings, breaches come first."""

    mode: str
    verdict: AuditVerdict
    findings: list[Finding]
