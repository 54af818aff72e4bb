"""What tests of generation share: a session that builds in this process, models that answer as told, and suites."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Any

from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.experiments.config import resolve
from heredity.experiments.suite import SuiteResult, open_suite, run_suite
from heredity.kinds.world.building import _Record, gates_of
from heredity.kinds.world.gates.build import build
from heredity.models import Reply, Request, Usage
from heredity.models.contract import ToolCall
from heredity.sandbox.limits import Limits


class HereRunner:
    """Builds in this process, against an empty library."""

    def __init__(self, workers: int = 1) -> None:
        self.builds = 0

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        for position, job in enumerate(jobs):
            self.builds += 1
            built = build(
                dict(job.candidate.agent), gates=gates_of(job), name=job.task.spec["world"], seed=job.task.spec["seed"]
            )
            yield position, _Record(job).built(built.to_json())

    async def close(self) -> None:
        """Nothing was started."""


class QuickRunner(HereRunner):
    """Looks at nothing but the form: what else gates would say is good."""

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        for position, job in enumerate(jobs):
            self.builds += 1
            world = job.task.spec["world"]
            built = build(dict(job.candidate.agent), world, job.task.spec["seed"], ("format",)).to_json()
            if built["levels"]:
                good = {"passed": True, "findings": [], "figures": {}}
                done = {report["gate"] for report in built["reports"]}
                built["reports"] += [{"gate": gate, **good} for gate in gates_of(job) if gate not in done]
                built["certificate"] = {"digest": "0" * 64, "admitted": True}
            yield position, _Record(job).built(built)


class Answering:
    """A model that answers by a function of the request, or by turns of a list, the last for ever."""

    name = "test/author"

    def __init__(self, *answers: str | Sequence[tuple[str, str]] | Callable[[Request], Reply]) -> None:
        self.answers, self.asked = list(answers), list[Request]()

    async def reply(self, request: Request) -> Reply:
        self.asked.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if callable(answer):
            return answer(request)
        used = Usage(10, 5, 0, 0.01)
        if isinstance(answer, str):
            return Reply(answer, usage=used, model=self.name)
        calls = tuple(ToolCall(f"c{len(self.asked)}-{i}", *call) for i, call in enumerate(answer))
        return Reply("", calls, "tool_calls", usage=used, model=self.name)


def suite(folder: Path, themes: dict[str, str], author: str = "offline/world-author", **sections: Any) -> SuiteResult:
    """Run a suite on some themes."""
    return asyncio.run(run_suite(folder, open_suite(folder, config(folder, themes, author, **sections))))


def config(folder: Path, themes: dict[str, str], author: str, **sections: Any) -> Any:
    file = folder.parent / "themes.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"[{name}]\ntheme = '''{text}'''\n" for name, text in themes.items()))
    given = {
        "run": {"protocol": "world-generation", "tasksets": [f"themes/{file}"], "name": "made"},
        "evolver": {"method": "world-author"},
        "gateway": {"optimisation": author},
        **sections,
    }
    return resolve(given)
