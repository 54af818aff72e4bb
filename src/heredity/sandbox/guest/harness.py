"""The loop inside a policy worker: load the program, construct one policy per episode, answer observations with actions.

Runs after confinement, in the same process as the untrusted program; the host trusts none of its output.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import random
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import codec as codecs
import failures
import frames
import numpy as np

ENTRY_MODULE = "policy"
_FAR = 1 << 62


class DeniedImportError(ModuleNotFoundError):
    """A module that programs may not import."""


class DeniedFinder:
    """Last on the import path: modules not found before it are unavailable to programs."""

    def __init__(self, allowed: list[str]) -> None:
        self.allowed = allowed

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Refuse a top-level module with a message that lists the allowed ones."""
        if path is None and "." not in name:
            raise DeniedImportError(
                f"{name!r} is not available to programs; use the standard library, {', '.join(self.allowed)} "
                "or modules in the program's own folder",
                name=name,
            )


class Output(io.TextIOBase):
    """Replaces stdout or stderr: keeps the current episode's output, up to a limit."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.current = -1
        self.kept: dict[int, list[str]] = {}
        self.sizes: dict[int, int] = {}

    def writable(self) -> bool:
        """Return True, as print requires."""
        return True

    def write(self, text: str) -> int:
        """Keep `text`, cut at the current episode's limit."""
        size = self.sizes.get(self.current, 0)
        part = text[: max(0, self.limit - size)]
        if part:
            self.kept.setdefault(self.current, []).append(part)
            self.sizes[self.current] = size + len(part)
        return len(text)

    def take(self) -> dict[int, str]:
        """Return the output since the last call, by position."""
        taken = {position: "".join(parts) for position, parts in self.kept.items()}
        self.kept.clear()
        return taken


class Context(Mapping[str, Any]):
    """Argument of `make_policy(context)`: the same values as keys and as attributes."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __getitem__(self, key: str) -> Any:
        return self.__dict__[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__)

    def __len__(self) -> int:
        return len(self.__dict__)


class Harness:
    """Serves one program over a pair of pipes."""

    def __init__(self, request: int, response: int, folder: str, order: Mapping[str, Any]) -> None:
        self.request, self.response, self.folder, self.order = request, response, folder, order
        self.stdout, self.stderr = Output(order["output"]), Output(order["output"])
        self.acts: dict[int, Callable[[Any], Any]] = {}
        self.policies: list[Any] = []
        self.failures: dict[int, dict[str, Any]] = {}
        self.act_at: list[Any] = ["policy.py", 1, "act"]
        self.observations = codecs.Codec(order["obs"])
        self.actions = codecs.Codec(order["action"], texts=False)
        self.rows = self.observations.array_leaf
        self.plain_action = self.actions.array_leaf

    def run(self) -> None:
        """Load, construct, and answer until the host closes the pipe."""
        sys.stdout, sys.stderr = self.stdout, self.stderr
        try:
            make, failure = self._load()
            if make is not None:
                for position, (index, seed) in enumerate(self.order["episodes"]):
                    self._start(make, position, index, seed)
            ready = {"failure": failure, "act": self.act_at, **self.news()}
            frames.write_frame(self.response, frames.READY + json.dumps(ready).encode())
            if failure is None:
                self.serve()
        except EOFError:
            return

    def _load(self) -> tuple[Callable[..., Any] | None, dict[str, Any] | None]:
        seed(self.order["episodes"][0][1])
        if not os.path.isfile(os.path.join(self.folder, ENTRY_MODULE + ".py")):
            return None, problem("missing_policy", "the program has no policy.py at its top")
        try:
            module = importlib.import_module(ENTRY_MODULE)
        except BaseException as error:  # noqa: BLE001 - whatever an untrusted module raises is reported, not handled
            return None, self._describe(error, "import_error")
        policy, make = getattr(module, "Policy", None), getattr(module, "make_policy", None)
        if not callable(policy) and not callable(make):
            return None, problem("missing_policy", "policy.py defines neither a class Policy nor make_policy(context)")

        def construct(obs_space: Any, action_space: Any, meta: Any, index: int) -> Any:
            if callable(policy):
                return policy(obs_space, action_space, meta)
            values = {"obs_space": obs_space, "observation_space": obs_space, "action_space": action_space}
            assert callable(make)
            return make(Context(**values, env_meta=meta, episode_index=index, seed=meta["policy_seed"]))

        return construct, None

    def _start(self, make: Callable[..., Any], position: int, index: int, policy_seed: int) -> None:
        self.stdout.current = self.stderr.current = position
        seed(policy_seed)
        spaces = [self.order["fresh"](space, policy_seed) for space in self.order["spaces"]]
        meta = {**json.loads(self.order["meta"]), "policy_seed": policy_seed}
        try:
            policy = make(*spaces, meta, index)
            self.policies.append(policy)
            act = policy.act
            if hasattr(policy, "reset"):
                policy.reset(index)
        except BaseException as error:  # noqa: BLE001 - see _load
            self.failures[position] = self._describe(error, "init_error")
            return
        self.acts[position] = act
        code = getattr(getattr(act, "__func__", act), "__code__", None)
        if code is not None:
            self.act_at = [self._relative_path(code.co_filename), code.co_firstlineno, code.co_name]

    def serve(self) -> None:
        """Answer observations with actions until the host closes the pipe; raise EOFError then."""
        request, response, acts = self.request, self.response, self.acts
        stdout, stderr = self.stdout, self.stderr
        integer = self.actions.integer
        while True:
            frame = frames.read_frame(request)
            count = frame[5] | frame[6] << 8
            positions = struct.unpack_from(f"<{count}H", frame, 7)
            answers: list[Any] = []
            for position, observation in zip(positions, self._observed(frame, 7 + 2 * count, count), strict=True):
                stdout.current = stderr.current = position
                try:
                    action = acts[position](observation)
                    if integer and type(action) is int and -_FAR < action < _FAR:
                        answers.append(action)
                    else:
                        answers.append(self._packed(action))
                except BaseException as error:  # noqa: BLE001 - see _load
                    self.failures[position] = self._describe(error, "act_error")
            data = struct.pack(f"<{len(answers)}q", *answers) if integer else b"".join(answers)
            if self.failures or stdout.kept or stderr.kept or not self.actions.nbytes:
                news = json.dumps(self.news()).encode()
                frames.write_frame(response, frames.MIXED + frames.HEADER.pack(len(news)) + news + data)
            else:
                frames.write_frame(response, frames.ACTIONS + data)

    def _observed(self, frame: bytearray, at: int, count: int) -> Any:
        """Return the observations of a frame, one for each position; `at` is the place of their encoding."""
        how, at = frame[at], at + 1
        if how == 1:
            return codecs.unpickle_values(memoryview(frame)[at:])
        if how == 2:
            at += self._learn_texts(frame, at)
        if self.rows is not None:
            return np.frombuffer(frame, self.rows.dtype, -1, at).reshape(count, *self.rows.shape)
        size = self.observations.nbytes
        return [self.observations.decode(frame, at + i * size) for i in range(count)]

    def _packed(self, action: Any) -> Any:
        """Encode an action: bytes, or for a discrete space an integer."""
        plain = self.plain_action
        if (
            plain is not None
            and type(action) is np.ndarray
            and action.dtype == plain.dtype
            and action.shape == plain.shape
        ):
            return action.tobytes()
        data = self.actions.coerce(action)
        return int.from_bytes(data, "little", signed=True) if self.actions.integer else data

    def _learn_texts(self, frame: bytearray, start: int) -> int:
        size = int.from_bytes(frame[start : start + 4], "little")
        self.observations.texts += codecs.unpickle_values(memoryview(frame)[start + 4 : start + 4 + size])
        return size + 4

    def news(self) -> dict[str, Any]:
        """Return and clear the failures and output since the last call."""
        out, err = self.stdout.take(), self.stderr.take()
        news = {
            "failures": dict(self.failures),
            "out": {p: [out.get(p, ""), err.get(p, "")] for p in sorted({*out, *err})},
        }
        self.failures.clear()
        return news

    def _describe(self, error: BaseException, category: str) -> dict[str, Any]:
        if failures.out_of_memory(error):
            category = "oom"
        elif isinstance(error, codecs.InvalidValueError):
            return problem("invalid_action", str(error), self.act_location())
        elif any(isinstance(e, DeniedImportError) for e in failures.chain(error)):
            category = "denied_import"
        return problem(category, failures.message_of(error), failures.traceback_of(error, self.folder))

    def act_location(self) -> str:
        """Return the location of `act`, in the form of a traceback."""
        file, line, name = self.act_at
        return f'  File "{file}", line {line}, in {name}\n'

    def _relative_path(self, path: str) -> str:
        return path.removeprefix(self.folder + "/")


def rehearse() -> None:
    """Play one step of a no-op policy, so that a reserve process has its memory in place before its order."""
    request, response = os.pipe(), os.pipe()
    box = {"type": "Box", "low": -1.0, "high": 1.0, "shape": [4], "dtype": "float32"}
    order = {"output": 0, "obs": box, "action": {"type": "Discrete", "n": 2}, "episodes": [[0, 0]]}
    harness = Harness(request[0], response[1], "/", order)
    harness.acts[0] = lambda observation: 0
    frames.write_frame(request[1], frames.STEP + struct.pack("<HHB", 1, 0, 0) + bytes(16))
    os.close(request[1])
    seed(0)
    compile("class Policy:\n    def act(self, obs):\n        return 0\n", "policy.py", "exec")
    json.dumps({"failure": None, "act": harness.act_at, **harness.news()})
    with contextlib.suppress(EOFError):
        harness.serve()
    for fd in (request[0], *response):
        os.close(fd)


def problem(category: str, message: str, text: str = "") -> dict[str, Any]:
    """Return a failure in the host's format."""
    return {"category": category, "message": message, "traceback": text}


def seed(value: int) -> None:
    """Seed Python's and numpy's global generators."""
    random.seed(value)
    np.random.seed(value & 0xFFFFFFFF)
