"""A trial of a coding agent: a whole run in the sandbox with a scripted model, which says what works."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heredity._core.engine_folder import EngineFolder
from heredity.agents.launchers import agent_key, check_command, launcher
from heredity.configuration.sections import EvolverSection
from heredity.experiments.config import resolve
from heredity.experiments.outside_agents import program_folders
from heredity.experiments.suite import SuiteResult, open_suite, run_suite
from heredity.records import read_journal
from heredity.records.events import AGENT_ENDED, AGENT_USAGE, SESSION_CLOSED, SUBMISSION_COMPLETED
from heredity.results.run import RunResults

_POLICY = """class Policy:
    def __init__(self, obs_space, action_space, env_meta):
        pass

    def reset(self, episode_index):
        pass

    def act(self, obs):
        return {action}
"""

_STEPS = (
    f"cat > system/policy.py <<'END'\n{_POLICY.format(action='0')}END",
    "heredity submit --episodes 0-1 --json",
    "cp feedback/submit_*0/summary.json read.json; cat read.json",
    f"cat > system/policy.py <<'END'\n{_POLICY.format(action='int(obs[2] + 0.5 * obs[3] > 0)')}END",
    "heredity submit --episodes 0-1 --json",
    "heredity finish",
    # Some agents end with this line, others with an answer without a call.
    "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT",
)

_SHELLS: dict[str, tuple[str, dict[str, Any]]] = {
    "Bash": ("command", {"description": "one step"}),
    "bash": ("command", {}),
    "exec_command": ("cmd", {"yield_time_ms": 30_000}),
    "run_shell_command": ("command", {"description": "one step", "is_background": False}),
    "shell": ("command", {}),
    "developer__shell": ("command", {}),
    "terminal": ("command", {}),
    "execute_bash": ("command", {}),
}
"""Names of shell tools, and their arguments: that of the command, and others."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that an agent must be able to do.

    Attributes:
        name: the thing.
        works: whether it worked.
        detail: what was measured.
    """

    name: str
    works: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a trial.

    Attributes:
        agent: the agent.
        steps: what it had to do.
        output: the last lines of its output.
        seconds: wall time.
    """

    agent: str
    steps: Sequence[Step]
    output: str
    seconds: float

    @property
    def works(self) -> bool:
        """True if every step worked."""
        return all(step.works for step in self.steps)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        steps = [{"name": step.name, "works": step.works, "detail": step.detail} for step in self.steps]
        return {
            "agent": self.agent,
            "works": self.works,
            "seconds": round(self.seconds, 1),
            "steps": steps,
            "output": self.output,
        }


def try_agent(agent: str, *, unsafe: bool = False, time_limit_s: float = 180.0) -> Trial:
    """Run an agent in its sandbox: a scripted model has it edit, submit, read the feedback, improve and finish.

    Args:
        agent: a launcher's name, a folder, `acp:` and an agent, or a command.
        unsafe: run it without a sandbox.
        time_limit_s: wall time of the agent, in seconds.

    Raises:
        HeredityError: if the agent is not installed, or cannot be confined.
    """
    key, started = agent_key(agent), time.monotonic()
    if key == "launcher":
        # A missing program is reported before anything is laid out.
        launcher(agent).launch("", "trial")
    else:
        check_command(agent, program_folders(EvolverSection(agent=agent), unsafe=unsafe))
    with EngineFolder() as root:
        (root / "trial").write_text(_rules(), encoding="utf-8")
        config = resolve(
            {
                "run": {"tasksets": ["gymnasium/CartPole-v1"]},
                "evolver": {
                    key: agent,
                    "model": f"scripted/{root}/trial",
                    "time_limit_s": time_limit_s,
                    "continue_turns": 1,
                },
                "budget": {"episodes": 4},
                "views": {"validation": 1, "heldout": 1},
                "engine": {"workers": 1, "unsafe": unsafe},
            }
        )
        suite = root / "suite"
        result = asyncio.run(run_suite(suite, open_suite(suite, config)))
        return _trial(agent, result, next(suite.glob("runs/*")), time.monotonic() - started)


def _rules() -> str:
    total = len(_STEPS)
    rules = [f'[[rule]]\nwhen = {{ any = "STEP {total} ENDED" }}\nreply = "All is done."\n']
    for number, command in reversed(list(enumerate(_STEPS))):
        # What the step prints must not be in the command.
        text = f"{command}\nprintf 'STEP %s ENDED\\n' {number + 1}"
        for tool, (argument, others) in _SHELLS.items():
            seen = f', any = "STEP {number} ENDED"' if number else ""
            arguments = ", ".join(f"{name} = {json.dumps(value)}" for name, value in {argument: text, **others}.items())
            call = f'calls = [{{ name = "{tool}", arguments = {{ {arguments} }} }}]'
            rules.append(
                f'[[rule]]\nwhen = {{ tool = "{tool}"{seen} }}\n[rule.reply]\ntext = "Step {number + 1}."\n{call}\n'
            )
    return "\n".join([*rules, '[[rule]]\nreply = "Yes."\n'])


def _trial(agent: str, result: SuiteResult, folder: Path, seconds: float) -> Trial:
    events = list(read_journal(folder / "journal.jsonl"))
    ends, workspace = list(AGENT_ENDED.all(events)), folder / "workspace"
    code = ends[-1]["code"] if ends else None
    counted = [usage for usage in AGENT_USAGE.all(events) if usage["source"] == "broker"]
    submissions = len(list(SUBMISSION_COMPLETED.all(events)))
    kinds = [event.kind for event in events]
    # The session of an agent that does not finish it is closed after the agent's end.
    finished = SESSION_CLOSED.name in kinds and kinds.index(SESSION_CLOSED.name) < kinds.index(AGENT_ENDED.name)
    program, read = workspace / "system" / "policy.py", workspace / "read.json"
    metrics = result.runs[0] if result.runs else None
    returns = [row.train_mean for row in metrics.submissions if row.train_mean is not None] if metrics else []
    improved = len(returns) == 2 and returns[1] > returns[0]
    steps = [
        Step("starts and ends", code == 0, f"exit code {code}"),
        Step("calls its model", bool(counted), f"{len(counted)} calls"),
        Step(
            "edits files",
            program.is_file() and "return 0" not in program.read_text() and "obs[2]" in program.read_text(),
        ),
        Step("submits", submissions >= 1, f"{submissions} submissions"),
        Step("reads its feedback", _is_object(read)),
        Step("improves", improved, " → ".join(map(str, returns))),
        Step("finishes", finished),
        _tokens(metrics),
    ]
    log = folder / "logs" / "agent.log"
    output = ends[-1].get("output", "") if ends else log.read_text(errors="replace")[-2000:] if log.exists() else ""
    return Trial(agent, steps, str(output), seconds)


def _tokens(metrics: RunResults | None) -> Step:
    accounts = metrics.agent_accounts if metrics else None
    if accounts is None:
        return Step("counts tokens", True, "it reports none; the broker counts them")
    difference = accounts.difference.model_dump()
    same = not any(difference.values())
    return Step("counts tokens", same, "as the broker" if same else f"differs from the broker by {difference}")


def _is_object(file: Path) -> bool:
    try:
        return isinstance(json.loads(file.read_text()), dict)
    except (OSError, ValueError):
        return False
