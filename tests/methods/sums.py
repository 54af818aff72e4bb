"""A session on sums for tests: the prompt decides which ones come out right. And a model that a function plays."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import numpy as np

from heredity._core.errors import BudgetError, ClosedError, ConfigError, RejectedError
from heredity.engine.trajectory import Failure, Trajectory
from heredity.methods.contract import Batch, Budget, Decision, EvolverContext, Feedback, Outcome, Trial
from heredity.models import Model, Reply, Request
from heredity.resources import Candidate, SourceTree
from heredity.tasks import TasksetInfo

SYSTEM = "prompt/system:prompt.md"
TRAIN = 12


def agent(system: str = "Add the numbers.", **parts: dict[str, str]) -> Candidate:
    named = {name.replace("__", "/"): SourceTree(files) for name, files in parts.items()}
    return Candidate({"prompt/system": SourceTree({"prompt.md": system}), **named})


def system_of(candidate: Candidate) -> str:
    return candidate.parts["prompt/system"].text("prompt.md")


def all_texts(candidate: Candidate) -> str:
    return "\n".join(part.text(path) for part in candidate.parts.values() for path in part)


def right_unless_harmed(candidate: Candidate, task: int) -> str:
    """Solve every sum, unless some text of the agent says `guess`."""
    return "none" if "guess" in all_texts(candidate) else str(task + task)


def right_if_taught(candidate: Candidate, task: int) -> str:
    """Solve sums below six; the others only if some text of the agent says `carry`; none if one says `guess`."""
    taught = "carry" in all_texts(candidate) or task < 6
    return str(2 * task) if taught and "guess" not in all_texts(candidate) else "none"


Solver = Callable[[Candidate, int], str]


class SumsSession:
    """Rollouts sums in this process; a solver that raises RuntimeError fails as a program does.

    Attributes:
        trials: what was submitted, with the key; `decisions`: what was committed or refused, in order.
    """

    def __init__(
        self, solver: Solver = right_if_taught, *, episodes: int | None = None, close_after: int = 10**9
    ) -> None:
        self._solver, self._episodes, self._close_after = solver, episodes, close_after
        self._answers: dict[str, list[Feedback]] = {}
        self.trials: list[tuple[str, Trial]] = []
        self.decisions: list[Decision] = []

    async def submit(self, trials: Sequence[Trial], key: str) -> list[Feedback]:
        if key in self._answers:
            return self._answers[key]
        charge = sum(len(t.tasks) * t.repeats for t in trials)
        if not trials or charge == 0:
            raise RejectedError("nothing is asked")
        if len(self.trials) >= self._close_after:
            raise ClosedError("the session is closed")
        if self._episodes is not None and charge > self._episodes:
            raise BudgetError("too little is left")
        self._episodes = None if self._episodes is None else self._episodes - charge
        first = len(self.trials) + 1
        self.trials += [(key, trial) for trial in trials]
        await asyncio.sleep(0)
        self._answers[key] = [self._feedback(trial, first + i) for i, trial in enumerate(trials)]
        return self._answers[key]

    def remaining(self) -> Budget:
        return Budget(episodes=self._episodes)

    async def commit(self, decision: Decision, candidate: Candidate | None = None) -> Decision:
        if decision.candidate not in {t.candidate.digest for _, t in self.trials}:
            raise RejectedError("the candidate was never submitted")
        self.decisions.append(decision)
        return decision

    def batches(self) -> AsyncIterator[Batch]:
        raise ConfigError("this session has no schedule")

    @property
    def committed(self) -> Candidate:
        last = [d.candidate for d in self.decisions if d.accepted][-1]
        return next(t.candidate for _, t in self.trials if t.candidate.digest == last)

    @property
    def refused(self) -> list[Decision]:
        return [d for d in self.decisions if not d.accepted]

    def _feedback(self, trial: Trial, number: int) -> Feedback:
        tasks = list(trial.tasks) * trial.repeats
        return Feedback(number, trial.candidate.digest, "ok", tuple(self._outcome(trial.candidate, t) for t in tasks))

    def _outcome(self, candidate: Candidate, task: int) -> Outcome:
        try:
            said = self._solver(candidate, task)
        except RuntimeError as error:
            failure = Failure("act_error", str(error), "agent.py, line 3")
            return Outcome(task, 0.0, 0, "act_error", failure, None)
        except TimeoutError:
            return Outcome(task, float("nan"), 0, "missing", None, None)
        return attempt_at(candidate, task, said)


def attempt_at(candidate: Candidate, task: int, said: str) -> Outcome:
    right = said == str(2 * task)
    info = {
        "question": f"What is {task} + {task}?",
        "expected": str(2 * task),
        "extracted": said,
        "correct": right,
        "reason": "" if right else f"{said} is not {2 * task}",
    }
    columns: dict[str, Any] = {
        "obs": [f"{system_of(candidate) if 'prompt/system' in candidate.parts else ''}\n{task} + {task}?", "verdict"],
        "action": [said],
        "reward": np.array([float(right)]),
        "terminated": np.array([True]),
        "truncated": np.array([False]),
        **{f"info/{key}": [value] for key, value in info.items()},
    }
    cost = {"input_tokens": float(len(all_texts(candidate))), "output_tokens": 1.0}
    trajectory = Trajectory(
        f"train/{task}", candidate.digest, "ok", "none", float(right), 1, True, columns=columns, cost=cost
    )
    return Outcome(task, float(right), 1, trajectory=trajectory)


def block_of(request: Request) -> dict[str, Any]:
    """Return the JSON block of a request, as a program that plays the model reads it."""
    text = next(m.content for m in request.messages if m.role == "user")
    (block,) = re.findall(r"^```json\n(.*?)\n```$", text, re.MULTILINE | re.DOTALL)
    return json.loads(block)


class Played:
    """A model played by a function from the JSON block of a request to a reply: a text, or what is sent as JSON.

    Attributes:
        blocks: the JSON blocks of all requests; `requests`: the requests.
    """

    name = "played"

    def __init__(self, play: Callable[[dict[str, Any]], Any]) -> None:
        self._play = play
        self.requests: list[Request] = []

    @property
    def blocks(self) -> list[dict[str, Any]]:
        return [block_of(request) for request in self.requests]

    async def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        await asyncio.sleep(0)
        said = self._play(block_of(request))
        return Reply(said if isinstance(said, str) else json.dumps(said))


def proposing(edit: Callable[[dict[str, Any]], Any]) -> Played:
    """Return a model that plays every part; `edit` says what `improve` is answered with (or a value for one variable)."""

    def play(block: dict[str, Any]) -> Any:
        variable = next(iter([*block["variables"], *block["limits"]["new_variables"]]))
        if block["task"] == "reflect":
            return {"hypotheses": [{"cause": "it does not carry", "variables": [variable], "tasks": [6]}]}
        if block["task"] == "select":
            return {"selections": [{"variable": variable, "change": "teach it", "hypothesis": 0}]}
        if block["task"] == "critique":
            return {"critique": "wrong", "gradients": [{"variable": variable, "text": "teach it to carry"}]}
        said = edit(block)
        if isinstance(said, dict) and "edits" not in said:
            edits = [{"variable": name, "value": value, "why": "to be tried"} for name, value in said.items()]
            return {"edits": edits, "expects": "fewer mistakes"}
        return said

    return Played(play)


def teaching(block: dict[str, Any]) -> Any:
    """Play the model of methods that update after each batch: it teaches to carry, in another way each round."""
    text = f"Remember to carry, {block['round']}."
    if block["task"] == "lessons":
        ids = [entry["id"] for entry in block["skillbook"]]
        return {"helpful": ids[:1], "harmful": [], "lessons": [{"text": text, "section": "sums"}]}
    if block["task"] == "summarise":
        return {"summary": f"it said {block['evidence'][0]['answer']}"}
    if block["task"] in ("improve", "engineer"):
        return {"edits": [{"variable": SYSTEM, "value": text, "why": "to carry"}], "expects": "fewer mistakes"}
    return {"operations": [{"do": "add", "text": text, "section": "sums"}], "why": "to carry"}


def context(
    initial: Candidate, model: Model | None, *, seed: int = 0, train: int = TRAIN, **options: Any
) -> EvolverContext:
    info = TasksetInfo("questions/sums", "1", "question", {}, {}, "", 0.0)
    return EvolverContext(info, initial, seed, train, options, model)
