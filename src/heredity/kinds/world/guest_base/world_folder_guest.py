"""The guest's side of a world folder: the object that the host opens in the sandbox to play its levels.

The folder's files are in `world/` next to this module. They are copied into the scratch folder and run there, because
they open `./config.yaml` as well as files next to `__file__`, and their generators write into `./levels`. Every process
thus has a separate folder, and files written by a world are deleted with it. The host does not trust anything here.
"""

from __future__ import annotations

import copy
import hashlib
import importlib
import io
import json
import math
import os
import pickle
import random
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

_MOST_TOUCHED, _MOST_TEXTS = 50, 200
_STEP_KEYS = frozenset({"_t", "_history", "configs"})
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod", "os.link", "os.symlink")
_TOLD = ("last_action_result", "events")
"""Keys of a step's info that a player sees, in addition to the observation."""
_LISTS = ("os.listdir", "os.scandir")
_LEAVES = ("socket.__new__", "subprocess.Popen", "os.system", "os.exec", "os.fork", "os.posix_spawn", "ctypes.dlopen")


class World:
    """A world folder and its current level.

    Args:
        name: the folder's name.
        watch: record which files are opened, for `touched`.
        often: set if levels are played repeatedly: caches parsed YAML files, and copies faster.
    """

    def __init__(self, name: str, watch: bool = False, often: bool = False) -> None:
        self._name, self._root = name, _unpacked(name)
        self._touched: dict[tuple[str, str], None] = {}
        self.env: Any = None
        sys.path.insert(0, str(self._root))
        os.chdir(self._root)
        own = [str(Path(module.__file__).parent) for module in (sys.modules[__name__], sys.modules["__main__"])]  # type: ignore[arg-type]
        self._readable = (*own, *(path for path in sys.path if path), "/dev/null", "/dev/urandom")
        if watch:
            sys.addaudithook(self._watch)
        if often:
            _remember_yaml()
            _copy_faster()
        self._made = _world_class()

    def reset(self, level: str | None, seed: int) -> dict[str, Any]:
        """Start a level: `observation`, `done`, and `state`, the digest of the state.

        Args:
            level: the `world_id` to load, such as `"level_01"`; None generates a level from the seed.
            seed: seeds Python's and numpy's global generators, right before the environment's own reset.
        """
        os.chdir(self._root)
        _seed(seed)
        self.env = self._made(env_id=f"{self._name}_benchmark")
        _seed(seed)
        if level is None:
            self.env.reset(mode="generate", seed=seed)
        else:
            self.env.reset(mode="load", world_id=level)
        seen = self.env.render_skin(self.env.observe_semantic())
        return {
            "observation": _plain(seen),
            "done": bool(self.env.done()),
            "state": _digest(getattr(self.env, "_state", None)),
        }

    def step(self, action: Any) -> dict[str, Any]:
        """Take an action: `observation`, `reward`, `done`, `info`."""
        os.chdir(self._root)
        _, reward, done, info = self.env.step(action)
        paid = float(reward)
        if not math.isfinite(paid):
            raise ValueError(f"the reward of {action!r} is {paid}; expected a finite number")
        rest = {key: value for key, value in info.items() if key != "skinned"}
        return {"observation": _plain(info["skinned"]), "reward": paid, "done": bool(done), "info": _plain(rest)}

    def play(self, level: str | None, seed: int, actions: Sequence[Any]) -> dict[str, Any]:
        """Start a level and take actions until it ends or fails.

        Returns:
            `first`: digest of the first observation; `ended`: True if the level is over; `steps`: `[reward, digest of the result,
            digest of the player's part]` of each step; `failed`: the exception of the last action; `moment`: digest of
            everything that affects the future, and `still`: the same without time and chance.
        """
        opening = self.reset(level, seed)
        steps: list[list[Any]] = []
        failed, ended = "", opening["done"]
        for action in actions:
            if ended:
                break
            try:
                taken = self.step(action)
            except Exception as error:  # noqa: BLE001 - whatever a world raises is what is asked for
                failed = self.described(error)
                break
            ended = taken["done"]
            observed = [taken["observation"], *(taken["info"].get(key) for key in _TOLD)]
            steps.append([taken["reward"], _digest([taken["observation"], taken["info"]]), _digest(observed)])
        moment, still = self._moment()
        first = _digest(opening["observation"])
        return {"first": first, "ended": ended, "steps": steps, "failed": failed, "moment": moment, "still": still}

    def states(self, levels: Sequence[str], seeds: Sequence[int]) -> list[str]:
        """Return the digests of initial states of levels, then of those generated from seeds; `""` for a failure."""
        return [self._state_of(level, 0) for level in levels] + [self._state_of(None, seed) for seed in seeds]

    def explore(self, level: str | None, seed: int, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Search a level; see `world_folder_explorer.explore`."""
        return importlib.import_module("world_folder_explorer").explore(self, level, seed, asked)

    def touched(self) -> list[tuple[str, str]]:
        """Return the paths that the folder's code opened or changed outside itself, and wrote inside: `(what, path)`."""
        return list(self._touched)

    def _state_of(self, level: str | None, seed: int) -> str:
        try:
            return str(self.reset(level, seed)["state"])
        except Exception:  # noqa: BLE001 - a level that cannot be started has no state
            return ""

    def plain(self, value: Any) -> Any:
        """Return JSON values for a value."""
        return _plain(value)

    def described(self, error: Exception) -> str:
        """Return an exception's text with its place in the folder."""
        inside = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(str(self._root))]
        where = f" ({os.path.relpath(inside[-1].filename, self._root)}, line {inside[-1].lineno})" if inside else ""
        return f"{type(error).__name__}: {str(error)[:200]}{where}"

    def _moment(self) -> tuple[str, str]:
        still = _digest({key: value for key, value in vars(self.env).items() if key not in _STEP_KEYS})
        numpy_state: Any = np.random.get_state()
        chance = repr((random.getstate(), numpy_state[1].tobytes(), numpy_state[2:]))
        return _digest([still, getattr(self.env, "_t", None), chance]), still

    def _watch(self, event: str, given: tuple[Any, ...]) -> None:
        # The import system reads all paths in sys.path, and requesting the frame raises an event too.
        if event in _LISTS and sys._getframe(1).f_code.co_filename.startswith("<frozen importlib"):  # pyright: ignore[reportPrivateUsage]
            return
        if event in _LEAVES:
            self._note(event, "")
        elif event in _CHANGES:
            self._note_path("write", given[0])
        elif event in _LISTS:
            self._note_path("read", given[0])
        elif event == "open":
            path, mode, flags = given
            writes = flags & _WRITING if mode is None else set("wax+") & set(mode)
            self._note_path("write" if writes else "read", path)

    def _note_path(self, what: str, path: Any) -> None:
        if isinstance(path, int) or path is None:
            return
        whole = os.path.abspath(os.fsdecode(path))
        if whole == str(self._root) or whole.startswith(f"{self._root}/"):
            if what == "write":
                self._note("write", os.path.relpath(whole, self._root))
        elif what == "write" or not whole.startswith(self._readable):
            self._note(f"outside {what}", whole.replace(os.environ["TMPDIR"], "$TMPDIR"))

    def _note(self, what: str, path: str) -> None:
        if len(self._touched) < _MOST_TOUCHED:
            self._touched[what, path] = None


def _unpacked(name: str) -> Path:
    source, root = Path(__file__).parent / "world", Path(os.environ["TMPDIR"]) / name
    for path in sorted(source.rglob("*")):
        target = root / path.relative_to(source)
        if path.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    (root / "levels").mkdir(exist_ok=True)  # Paths of other levels start here, and generators write here.
    return root


def _world_class() -> Any:
    base = importlib.import_module("base.env.base_env").SkinEnv
    classes = {
        subclass
        for subclass in vars(importlib.import_module("env_main")).values()
        if isinstance(subclass, type) and issubclass(subclass, base) and subclass is not base
    }
    leaves = [
        subclass
        for subclass in classes
        if not any(other is not subclass and issubclass(other, subclass) for other in classes)
    ]
    if len(leaves) != 1:
        names = ", ".join(sorted(subclass.__name__ for subclass in leaves)) or "none"
        raise TypeError(f"env_main.py has {len(leaves)} subclasses of SkinEnv ({names}); expected one")
    return leaves[0]


def _remember_yaml() -> None:
    """Cache parsed YAML, which takes most of a short play. Every caller gets a copy."""
    yaml: Any = importlib.import_module("yaml")
    parse, safe = yaml.load, [getattr(yaml, name, None) for name in ("SafeLoader", "CSafeLoader")]
    cached: dict[Any, bytes] = {}

    def load(stream: Any, Loader: Any) -> Any:  # noqa: N803 - the name that callers use
        text = stream if isinstance(stream, str | bytes) else stream.read()
        if Loader not in safe or len(cached) > _MOST_TEXTS:
            return parse(text, Loader)
        if text not in cached:
            cached[text] = pickle.dumps(parse(text, Loader))
        return pickle.loads(cached[text])

    yaml.load = load


class _Plain(pickle.Pickler):
    """Pickles only plain lists, tables, texts and numbers."""

    def reducer_override(self, obj: Any) -> Any:
        raise TypeError(f"{type(obj).__name__} is copied as its class says")


def _copy_faster() -> None:
    """Make deep copies of plain values in C, because environments copy their whole state at every step."""
    slow = copy.deepcopy

    def deepcopy(x: Any, memo: Any = None, *rest: Any) -> Any:
        if memo is None and not rest and type(x) in (dict, list):
            written = io.BytesIO()
            try:
                _Plain(written, 5).dump(x)
                return pickle.loads(written.getbuffer())
            except (TypeError, RecursionError):
                pass
        return slow(x, memo, *rest)

    copy.deepcopy = deepcopy


def _seed(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed % 2**32)


def _digest(value: Any) -> str:
    text = json.dumps(_plain(value), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:24]


def _plain(value: Any) -> Any:
    """Return JSON values; non-JSON numbers become text, objects their class's name."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, set | frozenset):
        return sorted((_plain(inner) for inner in value), key=repr)
    return f"<{type(value).__name__}>"
