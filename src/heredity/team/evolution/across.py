"""Evolution across tasks: what a task begins with, and what is done when it is over."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from heredity.gateway import Model
from heredity.gateway.contract import NOTHING_USED, Usage
from heredity.gateway.gateway import Gateway
from heredity.ids import digest_json
from heredity.resources import Candidate
from heredity.rollouts.programs import SandboxedPrograms
from heredity.team.design import EvolutionDesign, read_team
from heredity.team.evolution.checks import add_canary, after_task, read_canaries
from heredity.team.evolution.evolving import NO_EVOLUTION, Evolving, check_optimizer
from heredity.team.evolution.lineage import Lineage
from heredity.team.evolution.makeup import Makeup
from heredity.team.evolution.trials import Case, Staff, is_right, solved, used_in
from heredity.team.settings import EvolutionSection, TeamSettings
from heredity.team.team import PLANNER, TeamResult, write_whole


@dataclass
class TeamAtWork:
    """A team with what it learns across tasks.

    Attributes:
        evolving: the team.
        section: how it evolves.
        lineage: its versions; None where it does not evolve.
        folder: where the task is worked on; its name is the task's.
    """

    evolving: Evolving
    section: EvolutionSection
    lineage: Lineage | None
    folder: Path
    _checked: tuple[int, Usage] = (0, NOTHING_USED)

    async def after(self, body: Mapping[str, Any], result: TeamResult, *, answer: str) -> None:
        """Put a task into the history; keep one that was solved as a canary; check the canaries if it is time."""
        if self.lineage is None:
            return
        decided = self.evolving.decisions(f"task-{digest_json(dict(body))[:12]}")
        write_whole(self.folder / "evolution.json", json.dumps(decided, indent=1, ensure_ascii=False))
        right = is_right(result.answer, answer) if answer else None
        calls, usage = used_in(self.evolving.trials.bus.record)
        path = Path(self.section.canaries)
        if right and not body.get("files"):  # What is given with a task is not kept for later ones.
            add_canary(path, str(body["task"]), answer)
        made = [{k: one.get(k) for k in ("what", "accepted", "reason", "parts", "versions")} for one in decided]
        done = {
            "task": f"{self.folder.name}/{digest_json(dict(body))[:12]}",
            "asked": str(body["task"])[:200],
            "right": right,
            "outcome": result.outcome,
            "rounds": result.rounds,
            "attempts": self.evolving.attempted,
            "decisions": made,
            "calls": calls,
            "usage": usage.to_json(),
        }
        across = self.section.mode == "across"
        every = self.section.check_every if across else 0
        attempt = partial(self._attempt, str(done["task"]))
        await after_task(self.lineage, done, read_canaries(path), every, attempt, self._used)

    async def _attempt(self, task: str, candidate: Candidate, case: Case) -> float:
        staff = self.evolving.staff
        name = f"check-{digest_json([task, candidate.digest, case.key])[:16]}"
        result, calls, usage = await solved(read_team(candidate, staff.offered), staff, case.body, name)
        self._checked = (self._checked[0] + calls, self._checked[1] + usage)
        return float(result.ok and is_right(str(result.value["answer"]), case.answer))

    def _used(self) -> dict[str, Any]:
        calls, usage = self._checked
        return {"calls": calls, "usage": usage.to_json()}


@contextmanager
def evolving(
    settings: TeamSettings,
    made: Makeup,
    staff: Staff,
    gateway: Gateway,
    programs: SandboxedPrograms,
    folder: Path,
) -> Generator[TeamAtWork]:
    """Open the versions of a team, where it evolves, and return it as it begins the task of a folder.

    Raises:
        ConfigError: if it cannot be built, or the optimizer cannot be used.
        DamagedRecordError: if the store is damaged.
    """
    section = settings.evolution
    if section.mode == "none":
        yield TeamAtWork(Evolving(read_team(made.candidate, made.offered), staff), section, None, folder)
        return
    keys = ("optimizer", "options", "targets", "attempts", "tries", "guards")
    design = EvolutionDesign(**{key: getattr(section, key) for key in keys}) if section.attempts else NO_EVOLUTION
    check_optimizer(design)
    folder.mkdir(parents=True, exist_ok=True)
    with Lineage(Path(section.store), folder.name, across=section.mode == "across") as lineage:
        team = read_team(lineage.start(made.candidate, folder), made.offered)
        canaries, optimizer = _canaries(section, folder), _optimizer(settings, gateway)
        staff = replace(staff, records=folder / "attempts")
        at_work = Evolving(team, staff, design, optimizer, programs, lineage.keep, canaries, section.seed)
        yield TeamAtWork(at_work, section, lineage, folder)


def _optimizer(settings: TeamSettings, gateway: Gateway) -> Model:
    names = (settings.evolution.model, settings.gateway.optimisation, settings.models()[PLANNER])
    return gateway.model(next(name for name in names if name))


def _canaries(section: EvolutionSection, folder: Path) -> list[Case]:
    """Return the canaries that a task's commits have to keep: those of when it began, also when it is resumed."""
    own, shared = folder / "canaries.jsonl", Path(section.canaries)
    if not own.exists():
        lines = [case for case in read_canaries(shared) if section.at_commit][-section.at_commit :]
        lines_written = [json.dumps({**case.body, "answer": case.answer}, ensure_ascii=False) + "\n" for case in lines]
        write_whole(own, "".join(lines_written))
    return read_canaries(own)
