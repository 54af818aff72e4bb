"""Program tasks as tasksets: `program/circle-packing-26`, `program/PATH` for a user's folder.

If the function called with the program takes a seed, train, validation and held-out tasks are seeds, the last two
hidden. Else every task is the same measurement: nothing can be overfitted, and nothing is hidden.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.ids import generator
from heredity._core.plugins import located
from heredity.kinds.program.task import ProgramTask, library_folder, read_program_task, task_folders
from heredity.tasks.contract import SPLITS, Task, Taskset, TasksetInfo

PREFIX = "program/"
KIND = "program"

VERSION = 3
"""Incremented whenever scores may change."""


@dataclass(frozen=True)
class ProgramTaskset:
    """The taskset of one program task; see `heredity.tasks.contract.Taskset`."""

    name: str
    task: ProgramTask

    @property
    def info(self) -> TasksetInfo:
        """Description of this taskset."""
        return self._info

    @cached_property
    def _info(self) -> TasksetInfo:
        task, declared = self.task, self.task.declared
        better = "less is better; the score is its negative" if declared.minimise else "higher is better"
        hidden = (
            "other seeds than those of train tasks"
            if task.seeded
            else "nothing: the scorer takes no seed, so train, validation and held-out tasks are the same measurement"
        )
        return TasksetInfo(
            name=self.name,
            version=f"task {task.digest[:12]}, scoring {VERSION}",
            kind=KIND,
            spec={"folder": str(task.folder.resolve()), "digest": task.digest},
            public={
                "taskset": self.name,
                "title": declared.title,
                "statement": task.statement,
                "program_file": declared.program,
                "entry": "solve" if task.form == "verify" else "",
                "metric": f"{declared.metric or 'combined_score, or else the mean of all that the start program has'}; {better}",
                "best_known": declared.best_known,
                "best_known_source": declared.best_known_source,
                "hidden": hidden,
                "seeded": task.seeded,
                "judged": "apart from the program"
                if task.form == "verify"
                else "by an evaluator that runs the program",
            },
            description=f"# {declared.title}\n\n{task.statement.strip()}\n",
            failure_return=declared.failure_return,
            group="programs",
            family="programs",
        )

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        """Draw tasks; see `Taskset.draw`."""
        if split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
        if count < 0:
            raise ConfigError(f"{count} tasks of split {split!r} asked for; give 0 or more")
        spec = dict(self._info.spec)
        if not self.task.seeded:
            return tuple(Task(f"{split}/{i}", split, i, {**spec, "seed": None}) for i in range(count))
        # The last bits of the seeds keep splits disjoint.
        index, rng = SPLITS.index(split), generator(entropy, "program", self.name, split)
        drawn = dict.fromkeys(int(n) * len(SPLITS) + index for n in rng.integers(0, 2**29, 2 * count + 16))
        seeds = list(drawn)[:count]
        return tuple(Task(f"{split}/{i}", split, i, {**spec, "seed": seed}) for i, seed in enumerate(seeds))


class ProgramTasksets:
    """The tasksets named `"program/…"`."""

    def names(self) -> Iterable[str]:
        """Return the names of the built-in ones."""
        return tuple(PREFIX + name for name in task_folders(library_folder()))

    def taskset(self, name: str) -> Taskset:
        """Return the taskset with a full name.

        Raises:
            UnknownNameError: if it does not exist.
            ConfigError: if something is missing or wrong in its folder.
        """
        own, rest = task_folders(library_folder()), name.removeprefix(PREFIX)
        if rest in own:
            return ProgramTaskset(name, read_program_task(own[rest]))
        if not _is_path(rest):
            raise UnknownNameError("taskset", name, self.names())
        return ProgramTaskset(name, read_program_task(Path(rest).expanduser()))

    def located(self, name: str, base: Path) -> str:
        """Return a name with its path made absolute relative to the folder `base`."""
        rest = name.removeprefix(PREFIX)
        return PREFIX + located(rest, base) if _is_path(rest) else name


SOURCE = ProgramTasksets()
"""What `heredity.tasks.registry` loads."""


def _is_path(rest: str) -> bool:
    return os.sep in rest or rest.startswith((".", "~"))
