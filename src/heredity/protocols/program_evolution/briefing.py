"""What an outside agent reads when it starts to evolve a program: `AGENTS.md` and the task."""

from __future__ import annotations

import math

from heredity.protocols.policy_evolution.briefing import submitting
from heredity.resources import SourceTree
from heredity.server.terms import Briefing, RunTerms


def task_text(terms: RunTerms) -> str:
    """Return the task in Markdown, as `GET /task` and `TASK.md` give it."""
    public = terms.taskset.public
    best = "" if public["best_known"] is None else f"\nThe best value that is known: {public['best_known']:.12g}.\n"
    return f"""{terms.taskset.description.strip()}

## How it is scored

Score: {public["metric"]}. It is judged {public["judged"]}. Hidden: {public["hidden"]}.
{best}"""


def agent_text(terms: RunTerms) -> str:
    """Return `AGENTS.md`: the goal, the budget, what is to be written, how to submit, and how to read feedback."""
    public, limits, digits = terms.taskset.public, terms.limits, "N" * terms.width
    floor = terms.taskset.failure_return
    failed = f"which counts {floor:g} at most" if math.isfinite(floor) else "which ranks below every one that does not"
    entry = f" Its function `{public['entry']}()` is called; what it returns is what counts." if public["entry"] else ""
    return f"""# Improve the program {public["program_file"]}

Make `system/{public["program_file"]}` score as high as possible. `TASK.md` says what is scored.{entry} Where marks
`EVOLVE-BLOCK-START` and `EVOLVE-BLOCK-END` stand in it, change only what is between them.

You learn by submitting the folder `system/`: the host measures the program and writes down what came of it. You may spend
**{terms.episode_budget} evaluations** in all. When they are spent, or when you finish, the best of what you submitted are
measured again, and one of them is the result. Whatever you compute inside of this sandbox costs nothing.

| path | what it is |
|---|---|
| `system/` | the program; yours to change |
| `feedback/submit_{digits}/` | what each submission gave, written by the host; read-only, counted from 0 |
| `TASK.md`, `run_meta.json` | the task; read-only |
| `bin/` | the commands `heredity`, `submit` and `finish`; already on the path |

An evaluation may take {limits.episode_s:g} s of the processor and {limits.memory_bytes >> 20} MiB. In the feedback,
`trajectory.jsonl` of each evaluation has one line: `reward` is the score, `info.metrics` are the scorer's metrics,
`info.texts` what it says besides; `error.txt` says why a program failed, {failed}.

{submitting(terms)}"""


BRIEFING = Briefing(agent_text, task_text, SourceTree({}))
"""What an agent that evolves a program is told; the program is that of the task, or what the run names."""
