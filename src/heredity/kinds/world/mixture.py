"""Levels of many worlds as one taskset: learned on some worlds, judged on others (AutoEnv, figure 1 and section 5.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.ids import digest_json, generator
from heredity.kinds.world.skins import check_skin
from heredity.kinds.world.world import DIFFICULTIES, world
from heredity.tasks import SPLITS, Task, TasksetInfo

_SEEDS = 2**31
_MOST_WORLDS = 100_000
_RANGE = re.compile(r"(\d{1,9})(?:\.\.(\d{1,9}))?")


class MixtureTaskset:
    """Levels of alternating worlds, generated from the entropy: train levels of some worlds, held-out levels of others.

    Whatever is learned must hold in unseen worlds. A score is the total reward over the level's bound, as with a single
    world. There are no validation tasks.

    Args:
        name: the taskset's full name.
        train: names of the worlds to learn on.
        heldout: names of the worlds that judge.
        digest: returns the digest of everything that a world's scores depend on.
        skin: one of `heredity.kinds.world.skins.SKINS`.
        difficulty: 1 to 3 for levels of this difficulty only; None alternates between all.

    Raises:
        ConfigError: if there is no world to learn on or no world that judges, one is in both, or one does not have the
            skin.
    """

    def __init__(
        self,
        name: str,
        train: Sequence[str],
        heldout: Sequence[str],
        digest: Any,
        *,
        skin: str = "text",
        difficulty: int | None = None,
    ) -> None:
        both = sorted({*train} & {*heldout})
        if not train or not heldout or both:
            what = f"{both[0]} is in both" if both else "there are none"
            raise ConfigError(f"{name}: worlds to learn on and other ones to be judged on are needed; {what}")
        self.name, self.skin, self._digest = name, skin, digest
        self._worlds: Mapping[str, Sequence[str]] = {"train": train, "validation": (), "heldout": heldout}
        self.difficulties: Sequence[int] = DIFFICULTIES if difficulty is None else (difficulty,)
        for plain in () if skin == "text" else (*train, *heldout):
            check_skin(plain, world(plain).description.skin, skin)

    @property
    def info(self) -> TasksetInfo:
        """Description of this taskset; it reveals only the number of its worlds."""
        return self._info

    @cached_property
    def _info(self) -> TasksetInfo:
        train, heldout = self._worlds["train"], self._worlds["heldout"]
        digests = [[name, self._digest(name)] for name in (*train, *heldout)]
        instruction = (
            f"Each task is a level of one of {len(train)} worlds, and its text says what is to be done there. What was learned is"
            f" judged on levels of {len(heldout)} other worlds."
        )
        return TasksetInfo(
            name=self.name,
            version=f"worlds {digest_json([digests, list(self.difficulties)])[:12]}",
            kind="world",
            spec={"worlds": [*train, *heldout], "skin": self.skin},
            public={
                "taskset": self.name,
                "metric": "total reward over the level's bound: at most 1, higher is better",
                "instruction": instruction,
                "legend": {},
                "actions": [],
                "reward": "mixed",
                "steps": None,
                "skin": self.skin,
                "train_tasks": None,
                "hidden": "private: held-out levels are generated from the secret entropy, in worlds that no train level is of",
            },
            description=f"# {self.name}\n\n{instruction}\n",
            failure_return=0.0,
            group="worlds",
            family="mixed",
        )

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        """Draw the first `count` levels of a split, cycling through the worlds; see `Taskset.draw`."""
        if split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
        names = self._worlds[split]
        if count < 0 or (count and not names):
            raise ConfigError(f"{count} tasks of split {split!r} of {self.name} requested; set views.{split} to 0")
        return tuple(self._task(split, index, entropy) for index in range(count))

    def _task(self, split: str, index: int, entropy: int) -> Task:
        names = self._worlds[split]
        again, number = divmod(index, len(names))
        name = names[number]
        seed = int(generator(entropy, "cases", self.name, split, name, again).integers(_SEEDS))
        try:
            level = world(name).make(seed, self.difficulties[(number + again) % len(self.difficulties)])
        except ConfigError as error:
            raise ConfigError(f"{self.name}: {error}; leave that world out") from error
        spec = {
            "world": name,
            "level": dict(level.data),
            "bound": level.upper_bound.value,
            "skin": self.skin,
            "id": level.id,
        }
        return Task(f"{split}/{index}", split, index, spec, {"world": name})


def seeds_of(text: str) -> list[int]:
    """Parse seeds: `0..9` or `0..4,6,8..9`, both ends included.

    Raises:
        ConfigError: if the text is malformed, or a seed is repeated.
    """
    matches = [_RANGE.fullmatch(part) for part in text.split(",")]
    spans = [(int(m[1]), int(m[2] or m[1])) for m in matches if m is not None]
    many = sum(high - low + 1 for low, high in spans) > _MOST_WORLDS
    seeds = [] if many else [seed for low, high in spans for seed in range(low, high + 1)]
    if None in matches or not seeds or len(set(seeds)) != len(seeds) or any(low > high for low, high in spans):
        most = f"; at most {_MOST_WORLDS:,}" if many else ""
        raise ConfigError(f"seeds are {text!r}; expected ranges such as 0..9 or 0..4,6,8..9, no seed twice{most}")
    return seeds
