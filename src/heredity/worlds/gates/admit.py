"""All gates on a world, and the certificate of what they came to."""

from __future__ import annotations

import contextlib
import io
import json
import platform
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import heredity
from heredity.errors import ConfigError, HostError, IsolationError
from heredity.worlds.dsl.allowance import SlowHookError, UnansweredHookError
from heredity.worlds.gates.contract import CERTIFICATE, Findings, Gate, GateReport, Subject, files_digest
from heredity.worlds.gates.execution import execution
from heredity.worlds.gates.form import form
from heredity.worlds.gates.leak import leak
from heredity.worlds.gates.levels import levels
from heredity.worlds.gates.novelty import novelty
from heredity.worlds.gates.patience import StuckError, UnjudgedError
from heredity.worlds.gates.reliability import reliability
from heredity.worlds.gates.reward import reward

FORMAT = 1
_TRIES = 2

GATES: Mapping[str, Gate] = {
    "format": form,
    "execution": execution,
    "levels": levels,
    "reward": reward,
    "reliability": reliability,
    "novelty": novelty,
    "leak": leak,
}
"""In the order in which they are executed."""


@dataclass(frozen=True, slots=True)
class Admission:
    """What the gates came to.

    Attributes:
        world: its name.
        digest: of its folder, the certificate left out.
        seed: what all chance of the gates came from.
        gates: a report for each gate that was executed.
    """

    world: str
    digest: str
    seed: int
    gates: tuple[GateReport, ...]

    @property
    def admitted(self) -> bool:
        """Whether every gate was executed and passed."""
        return len(self.gates) == len(GATES) and all(report.passed for report in self.gates)

    def to_json(self) -> dict[str, Any]:
        """Return the certificate: the same for the same world, seed and versions."""
        return {
            "format": FORMAT,
            "world": self.world,
            "digest": self.digest,
            "admitted": self.admitted,
            "seed": self.seed,
            "versions": {"heredity": heredity.__version__, "python": platform.python_version()},
            "gates": [report.to_json() for report in self.gates],
        }

    def write(self, folder: Path) -> Path:
        """Write the certificate into a folder and return its path.

        Raises:
            ConfigError: if it cannot be written.
        """
        path = folder / CERTIFICATE
        try:
            path.write_text(json.dumps(self.to_json(), indent=1, allow_nan=False) + "\n", encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{path} cannot be written: {error.strerror}; name another folder with --out") from error
        return path


def admit(
    subject: Subject,
    done: Callable[[str], None] = lambda gate: None,
    *,
    first: bool = False,
    only: Collection[str] = tuple(GATES),
) -> Admission:
    """Execute the gates on a world.

    A gate that the world's own code breaks rejects it: what was raised is the finding. After a hang no other gate is
    executed, nor after one that could not be judged.

    Args:
        subject: the world with its levels. Its code is run in this process, and in the main thread, so that hangs are ended.
        done: called after each gate.
        first: whether to stop at the first gate that rejects.
        only: names of the gates that are executed; a world is admitted by all of them alone.
    """
    reports: list[GateReport] = []
    for name in (name for name in GATES if name in only):
        reports.append(_executed(name, subject))
        done(name)
        stuck = reports[-1].unjudged or any(finding.kind == "hang" for finding in reports[-1].findings)
        if stuck or (first and not reports[-1].passed):
            break
    return Admission(subject.world.name, files_digest(subject.world), subject.seed, tuple(reports))


def _executed(name: str, subject: Subject) -> GateReport:
    """Execute a gate; one that could not be judged is executed once more."""
    reason = ""
    for _ in range(_TRIES):
        findings, figures = Findings(), dict[str, Any]()
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                figures = GATES[name](subject, findings)
        except (UnjudgedError, UnansweredHookError) as error:
            reason = str(error)
            continue
        except StuckError as error:
            findings.add("hang", f"{error}; every action needs an answer", error.level, error.actions)
        except (HostError, IsolationError):
            raise
        except SlowHookError as error:
            findings.add("hang", f"{error}; every action needs an answer")
        except Exception as error:  # noqa: BLE001 - whatever the code of somebody's world raises
            findings.add("crash", f"the world raises {type(error).__name__}: {error}")
        return GateReport(name, findings.all(), figures)
    return GateReport(name, (), {}, unjudged=f"could not be judged, tried {_TRIES} times: {reason}")
