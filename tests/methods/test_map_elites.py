"""MAP-Elites on a session of its own: it improves, repeats itself, keeps to blocks, and uses what a model writes."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Any

import pytest

from heredity._core.errors import ClosedError, ConfigError
from heredity._core.ids import digest_bytes
from heredity.methods.contract import Budget, EvolverContext, Feedback, Outcome, Trial
from heredity.methods.map_elites import MapElites
from heredity.models import Reply, Request
from heredity.models.scripted import Scripted
from heredity.resources import Candidate, SourceTree
from heredity.tasks import TasksetInfo

PROGRAM = "# EVOLVE-BLOCK-START\nA = 1.0\nB = 1.0\n# EVOLVE-BLOCK-END\n\n\ndef solve():\n    return A, B\n"


class Session:
    """Scores programs by how near A and B are to 3 and -2; a program that fails has no score."""

    def __init__(self, episodes: int) -> None:
        self.left = episodes
        self.trials: list[Trial] = []
        self.keys: list[str] = []

    def remaining(self) -> Budget:
        return Budget(episodes=self.left)

    async def submit(self, trials: Sequence[Trial], key: str) -> list[Feedback]:
        if self.left < len(trials):
            raise ClosedError("spent")
        self.left -= len(trials)
        self.keys.append(key)
        return [self._scored(trial) for trial in trials]

    def _scored(self, trial: Trial) -> Feedback:
        self.trials.append(trial)
        names: dict[str, Any] = {}
        try:
            exec(trial.candidate.agent.text("program.py"), names)
            a, b = names["solve"]()
            score, status = -abs(a - 3) - abs(b + 2), "ok"
        except (SyntaxError, ArithmeticError, TypeError, ValueError, NameError, KeyError):
            score, status = -100.0, "act_error"
        outcomes = tuple(Outcome(task, float(score), 1, status) for task in trial.tasks)
        return Feedback(len(self.trials), trial.candidate.digest, "ok", outcomes)


def context(program: str = PROGRAM, path: str = "program.py", **fields: Any) -> EvolverContext:
    public = {"program_file": path, "seeded": False, "statement": "Come near.", "title": "Near", "metric": "score"}
    info = TasksetInfo("program/near", "1", "program", {}, public, "", -100.0)
    return EvolverContext(info, Candidate.program(SourceTree({path: program})), 5, 16, **fields)


def evolved(session: Session, **fields: Any) -> list[float]:
    asyncio.run(MapElites().evolve(session, context(**fields)))  # type: ignore[arg-type]
    return [session._scored(trial).mean for trial in list(session.trials)]


def test_it_improves_and_does_the_same_again() -> None:
    session, again = Session(200), Session(200)
    scores = evolved(session)
    assert scores[0] == -5
    assert max(scores) > -3
    evolved(again)
    assert [t.candidate.digest for t in session.trials[:200]] == [t.candidate.digest for t in again.trials[:200]]
    assert len(set(session.keys)) == len(session.keys)
    assert len({t.candidate.digest for t in session.trials[:200]}) == 200
    kept = "def solve():\n    return A, B\n"
    assert all(t.candidate.agent.text("program.py").endswith(kept) for t in session.trials)


def reply(request: Any) -> str:
    block = json.loads(request.messages[1].content.split("```json\n")[1].split("```")[0])
    assert block["what"]["statement"] == "Come near."
    program = block["current"]["program"]
    if "A = 1.0" in program:
        return json.dumps({"edits": [{"search": "A = 1.0", "replace": "A = 3.0"}], "why": "nearer"})
    return json.dumps({"edits": [{"search": "def solve", "replace": "def other"}], "why": "what may not change"})


def test_what_a_model_writes_is_measured_and_what_it_may_not_change_stays() -> None:
    session = Session(40)
    scores = evolved(session, model=Scripted(reply), options={"written": 1.0, "islands": 1})
    written = [t for t in session.trials[:40] if "written: nearer" in t.note]
    assert written
    assert max(scores) >= -3
    assert not any("def other" in t.candidate.agent.text("program.py") for t in session.trials)


def test_other_languages_need_a_model() -> None:
    with pytest.raises(ConfigError, match=r"gateway\.optimisation"):
        evolved(Session(5), program="fn main() {}", path="main.rs")


def test_a_start_that_cannot_be_scored_is_no_end() -> None:
    session = Session(30)
    evolved(session, program="A = 1.0\nB = 1 / (A - 1.0)\n\n\ndef solve():\n    return A, B\n")
    assert len(session.trials) >= 20


class Late:
    """A model whose replies to requests that are made at once arrive in another order for each `order`."""

    name = "late"

    def __init__(self, order: int) -> None:
        self.order, self.requests = order, list[str]()

    async def reply(self, request: Request) -> Reply:
        self.requests.append(request.digest)
        for _ in range(int(digest_bytes(f"{self.order} {request.digest}".encode())[:2], 16)):
            await asyncio.sleep(0)
        program = json.loads(request.messages[1].content.split("```json\n")[1].split("```")[0])["current"]["program"]
        value = 2 + int(request.digest[:6], 16) % 3  # so several replies are the same program, of other parents
        return Reply(json.dumps({"program": re.sub(r"A = .*", f"A = {value}.0", program), "why": request.digest[:4]}))


def test_what_is_bred_does_not_hang_on_the_order_in_which_replies_arrive() -> None:
    bred: list[list[tuple[str, tuple[str, ...], str]]] = []
    for order in range(4):
        session, model = Session(60), Late(order)
        evolved(session, model=model, options={"islands": 2})
        bred.append([(t.candidate.digest, tuple(t.parents), t.note) for t in session.trials[:60]])
        assert sum("written" in note for _, _, note in bred[-1]) < len(model.requests)
    assert bred == [bred[0]] * 4
