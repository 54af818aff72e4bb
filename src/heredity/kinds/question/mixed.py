"""Several question tasksets as one, for agents that must tell kinds of questions apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from heredity._core.errors import ConfigError
from heredity._core.ids import digest_json
from heredity.engine.questions.pools import question_info
from heredity.tasks.contract import CLUSTER, SPLITS, Task, Taskset, TasksetInfo

PREFIX = "questions/mix/"


class MixedTaskset:
    """Questions of several tasksets, alternating: the first of each, the second of each, and so on.

    Args:
        name: the full name, `questions/mix/` and the members' names without `questions/`, joined by `+`.
        members: the tasksets.

    Raises:
        ConfigError: if there are fewer than two, or duplicates.
    """

    def __init__(self, name: str, members: Sequence[Taskset]) -> None:
        names = [member.info.name for member in members]
        if len(set(names)) != len(names) or len(names) < 2:
            raise ConfigError(f"{name} mixes {', '.join(names)}; give two or more different tasksets")
        self.name, self._members = name, tuple(members)

    @property
    def sizes(self) -> Mapping[str, int] | None:
        """Number of questions in each split; None if a member's are generated."""
        sizes = [getattr(member, "sizes", None) for member in self._members]
        if None in sizes:
            return None
        return {split: min(one[split] * len(sizes) + i for i, one in enumerate(sizes) if one) for split in SPLITS}

    @property
    def info(self) -> TasksetInfo:
        """Description of this taskset."""
        infos = [member.info for member in self._members]
        keys = ("instructions", "answer_format", "hidden")
        joined = {key: "\n".join(dict.fromkeys(str(info.public[key]) for info in infos)) for key in keys}
        counts = [info.public["train_tasks"] for info in infos]
        sizes = [count for count in counts if count is not None]
        return question_info(
            self.name,
            version=f"mix {digest_json([[info.name, info.version] for info in infos])[:12]}",
            description="# Mixed questions\n\n" + "\n".join(info.description for info in infos),
            family="mixed",
            notes=[note for info in infos for note in info.notes],
            public={**joined, "train_tasks": min(sizes) * len(counts) if sizes else None},
        )

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        """Draw the first `count` questions of a split; see `Taskset.draw`."""
        size = len(self._members)
        shares = [member.draw(split, (count + size - 1 - i) // size, entropy) for i, member in enumerate(self._members)]
        drawn = [shares[i % size][i // size] for i in range(count)]
        domains = [member.info.name.removeprefix("questions/") for member in self._members]
        return tuple(
            replace(task, id=f"{split}/{i}", index=i, attributes=_labels(task, domains[i % size]))
            for i, task in enumerate(drawn)
        )


def _labels(task: Task, domain: str) -> dict[str, str]:
    """Return a task's domain, and its cluster qualified by the domain, since cluster names may repeat across domains."""
    return {"domain": domain, **({CLUSTER: f"{domain}: {task.cluster}"} if task.cluster else {})}
