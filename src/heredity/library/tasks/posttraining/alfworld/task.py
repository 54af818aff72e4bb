"""The tasks of doing chores: generated households, and the official games if the user has them."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import lru_cache
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import ConfigError, HostError
from heredity._core.ids import digest_bytes, generator
from heredity._core.outside import json_value, jsonl, read_bytes, read_text
from heredity.kinds.checkpoint.tasks.contract import TRAIN_FILE, PostTrainingTask, plain_solver
from heredity.kinds.checkpoint.tasks.env.household import INSTRUCTION, STEPS
from heredity.kinds.checkpoint.tasks.kinds import (
    SEEDS,
    GameProcess,
    environment_files,
    episode_info,
    episode_solving,
    seed_of,
)
from heredity.kinds.checkpoint.tasks.taskset import Deal, DealtTaskset, Spec
from heredity.library.tasks.posttraining.alfworld.games import CHORES, check_installed, game_files, generate, write
from heredity.library.tasks.posttraining.alfworld.process import demonstrations, open_household
from heredity.models import Model

GRADED = 134
"""As many as the official unseen split has (Agent² RL-Bench, table 5)."""

HELDOUT = 120
PRACTICE = 36
_PROCESSES = 8
"""Games that are open at the same time: each is a process of about 70 MB."""

OFFICIAL = "json_2.1.1"
DATA_VARIABLE = "ALFWORLD_DATA"

_GENERATED = (
    "The households are generated here, from ALFWorld's own rules and goals; scores are not comparable with those on its "
    "official games."
)
_PUBLISHED = "The games are the official ones: graded on `valid_unseen`, held out `valid_seen`, practice from `train`."

_DESCRIPTION = """\
# Chores in a household of text

The model is given a chore in a household (ALFWorld: put, clean, heat, cool, look at, put two) and {steps} steps to do it.
A chore that is done pays 1, anything else nothing.
{source}

- `data/train.jsonl`: the steps of {practice} chores that were done, each with `prompt` (exactly as the graded model is asked), the
  `completion`, and the `episode`. A planner that knows where everything is did them.
- `games/`: the same {practice} games, a folder each.
- `env/`: the game itself, played by the package `alfworld`. Many may be open at once; each takes 34 MB of the folder for temporary
  files until it is closed, so for more than six let `TMPDIR` name a folder of yours:

```text
from env.household import INSTRUCTION, Household
from env.rollout import play
episode = Household("games/000")
played = play(episode, INSTRUCTION, reply=my_model)
episode.close()
```

A submission does {graded} other chores, greedily. Its score is the share that it does.
"""


def alfworld() -> PostTrainingTask:
    """Return the task of chores in generated households (L3).

    Raises:
        MissingExtraError: if ALFWorld is not installed.
    """
    check_installed()
    made = _task("alfworld", _GENERATED, "generated 1", (GRADED, HELDOUT), _deal, _materials, ("generated",))
    return replace(made, space=SEEDS)


def alfworld_official() -> PostTrainingTask:
    """Return the task of ALFWorld's official games (L3), in the folder named by `ALFWORLD_DATA`.

    Raises:
        MissingExtraError: if ALFWorld is not installed.
        ConfigError: if the games are missing.
    """
    check_installed()
    named = os.environ.get(DATA_VARIABLE)
    root = Path(named or "~/.cache/alfworld").expanduser() / OFFICIAL
    practice = _official(root / "train", PRACTICE)
    specs = {
        split: [_official_spec(game) for game in _official(root / split)] for split in ("valid_unseen", "valid_seen")
    }

    def deal(entropy: int) -> Mapping[str, Sequence[Spec]]:
        return {"train": (), "validation": specs["valid_unseen"], "heldout": specs["valid_seen"]}

    def materials(entropy: int) -> Mapping[str, bytes]:
        return _workspace([_copied(folder) for folder in practice])

    sizes = len(specs["valid_unseen"]), len(specs["valid_seen"])
    return _task("alfworld-official", _PUBLISHED, OFFICIAL, sizes, deal, materials, ("public",))


def _task(
    name: str,
    source: str,
    games: str,
    sizes: tuple[int, int],
    deal: Deal,
    materials: Callable[[int], Mapping[str, bytes]],
    labels: tuple[str, ...],
) -> PostTrainingTask:
    description = _DESCRIPTION.format(steps=STEPS, source=source, practice=PRACTICE, graded=sizes[0])
    versions = f"{games}, alfworld {version('alfworld')}, textworld {version('textworld')}"
    info = episode_info(
        name,
        f"{__name__}:open_game_process",
        version=versions,
        description=description,
        family="alfworld",
        concurrent=_PROCESSES,
    )
    return PostTrainingTask(
        name=name,
        level="L3",
        title="Chores in a household of text",
        description=description,
        base_models=("smollm2-135m",),
        inner=DealtTaskset(info, deal),
        solver=plain_solver(INSTRUCTION + "\n\n{{question}}"),
        solving=episode_solving(),
        metric="success rate",
        materials=materials,
        graded=sizes[0],
        heldout=sizes[1],
        structure={"capability": 4, "interaction": 5, "reward": 2, "horizon": 5},
        labels=labels,
    )


@asynccontextmanager
async def open_game_process(spec: Spec, judge: Model | None) -> AsyncGenerator[GameProcess]:
    """Open the game of a task's spec, generated or official, in a separate process."""
    if "folder" in spec:
        async with open_household(Path(spec["folder"])) as game_process:
            yield game_process
        return
    with EngineFolder() as made:
        folder = made / "game"
        write(generate(spec["seed"], spec["number"]), folder)
        async with open_household(folder) as game_process:
            yield game_process


@lru_cache(maxsize=4)
def _deal(entropy: int) -> Mapping[str, Sequence[Spec]]:
    """Number the games of one seed, without duplicates."""
    seed = seed_of(entropy, "alfworld")
    specs: dict[str, Spec] = {}
    number = 0
    while len(specs) < PRACTICE + GRADED + HELDOUT:
        game = generate(seed, number)
        digest = digest_bytes(game.problem.encode())
        specs.setdefault(digest, {"seed": seed, "number": number, "question": digest, "chore": game.chore})
        number += 1
    dealt = list(specs.values())
    graded = dealt[PRACTICE : PRACTICE + GRADED]
    return {"train": dealt[:PRACTICE], "validation": graded, "heldout": dealt[PRACTICE + GRADED :]}


def _materials(entropy: int) -> Mapping[str, bytes]:
    return _workspace([game_files(generate(spec["seed"], spec["number"])) for spec in _deal(entropy)["train"]])


def _workspace(games: Sequence[Mapping[str, bytes]]) -> dict[str, bytes]:
    """Return the files of a workspace with these games, and rows from the planner's solutions.

    Raises:
        HostError: if a game has no solution.
    """
    files = {f"{i:03d}/{name}": data for i, game in enumerate(games) for name, data in game.items()}
    with EngineFolder() as made:
        for path, data in files.items():
            (made / path).parent.mkdir(exist_ok=True)
            (made / path).write_bytes(data)
        solved = demonstrations([made / f"{i:03d}" for i in range(len(games))])
    if not all(solved):
        raise HostError(f"ALFWorld's planner finds no solution of game {solved.index([])}; the game is wrong")
    rows = [
        {**row, "episode": i, "question": digest_bytes(_problem(games[i]["game.tw-pddl"]).encode())}
        for i, steps in enumerate(solved)
        for row in steps
    ]
    return {
        TRAIN_FILE: jsonl(rows),
        **{f"games/{path}": data for path, data in files.items()},
        **environment_files("household"),
    }


@lru_cache(maxsize=8)
def _official(folder: Path, most: int | None = None) -> Sequence[Path]:
    """Return the playable games of a split, as the package would choose them; with `most`, a random subset of this size."""
    folders = [path.parent for path in sorted(folder.rglob("game.tw-pddl"))]
    if most is not None:
        folders = [folders[i] for i in generator(0, "posttraining", "alfworld", "practice").permutation(len(folders))]
    playable = (
        path for path in folders if "movable" not in str(path) and "Sliced" not in str(path) and _playable(path)
    )
    games = tuple(islice(playable, most))
    if not games:
        raise ConfigError(
            f"there are no games in {folder}; fetch them with alfworld-download, and set {DATA_VARIABLE} to their folder"
        )
    return games


def _playable(folder: Path) -> bool:
    chore = _text(folder / "traj_data.json", "task_type")
    return chore in CHORES and bool(_object(folder / "game.tw-pddl").get("solvable"))


def _official_spec(folder: Path) -> dict[str, str]:
    problem = _text(folder / "game.tw-pddl", "pddl_problem")
    return {"folder": str(folder), "question": digest_bytes(problem.encode())}


def _copied(folder: Path) -> dict[str, bytes]:
    """Return a game's files, with its long record reduced to the fields that the environment reads."""
    kept = json.dumps({"task_type": _text(folder / "traj_data.json", "task_type")}).encode()
    return {"game.tw-pddl": read_bytes(folder / "game.tw-pddl"), "traj_data.json": kept}


def _text(path: Path, name: str) -> str:
    value = _object(path).get(name)
    if not isinstance(value, str):
        raise ConfigError(f"{path}: {name} is {value!r:.80}; expected a text; fetch the games anew")
    return value


def _object(path: Path) -> dict[str, Any]:
    try:
        value = json_value(read_text(path))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read: {error}; fetch the games anew with alfworld-download") from error
    if not isinstance(value, dict):
        raise ConfigError(f"{path} is no JSON object; fetch the games anew with alfworld-download")
    return value  # pyright: ignore[reportUnknownVariableType]


def _problem(game: bytes) -> str:
    return json.loads(game)["pddl_problem"]
