"""Program evolution: a program is improved by what a scorer says of it; the best few are validated, and one is scored held out.

What tells it from policy evolution is what a run begins with and is compared with, a program that somebody wrote, and that few
candidates are validated: an evaluation may take minutes, and one scorer without seeds says the same each time.
"""

from __future__ import annotations

from functools import partial

from heredity.protocols.contract import Protocol
from heredity.protocols.policy_evolution.judge import selected
from heredity.protocols.program_evolution.report import METRICS, REPORT
from heredity.protocols.program_evolution.setting import SHORTLIST, ProgramSetting

PROTOCOL = Protocol(
    name="program-evolution",
    summary="a scorer measures a program; the best few are validated, one is scored held out against the start",
    setting=ProgramSetting(),
    metrics=METRICS,
    report=REPORT,
    selection=partial(selected, shortlist=SHORTLIST),
)
