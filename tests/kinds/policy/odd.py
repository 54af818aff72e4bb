"""Environments that do what no environment should; importing this module registers them as `Odd<Name>-v0`."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces


class Quiet(gymnasium.Env[Any, Any]):
    """Does nothing out of the ordinary."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self) -> None:
        self.observation_space: Any = spaces.Box(-1.0, 1.0, (2,), np.float32)
        self.action_space: Any = spaces.Discrete(2)
        self.at = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self.at = 0
        return self.see(), {}

    def step(self, action: Any) -> Any:
        self.at += 1
        self.happen()
        return self.see(), 1.0, self.at >= 3, False, {}

    def see(self) -> Any:
        return np.zeros(2, np.float32)

    def happen(self) -> None:
        """What each step does beside the rest."""


class ExitsInReset(Quiet):
    def reset(self, **options: Any) -> Any:
        raise SystemExit(0)


class ExitsInConstruct(Quiet):
    def __init__(self) -> None:
        sys.exit()


class VanishesInConstruct(Quiet):
    def __init__(self) -> None:
        os._exit(0)


class VanishesInReset(Quiet):
    def reset(self, **options: Any) -> Any:
        print("the lamp went out", flush=True)  # noqa: T201
        os._exit(0)


class VanishesInStep(Quiet):
    def happen(self) -> None:
        os._exit(7)


class SleepsInReset(Quiet):
    def reset(self, **options: Any) -> Any:
        time.sleep(3600)


class SpinsInStep(Quiet):
    def happen(self) -> None:
        while True:
            pass


class Aborts(Quiet):
    def happen(self) -> None:
        os.abort()


class Segfaults(Quiet):
    def happen(self) -> None:
        ctypes.string_at(0)


class KillsItself(Quiet):
    def happen(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class Alarms(Quiet):
    def happen(self) -> None:
        os.kill(os.getpid(), signal.SIGALRM)


class Forks(Quiet):
    def happen(self) -> None:
        os.fork()


class LeavesAProcess(Quiet):
    def happen(self) -> None:
        if os.fork() == 0:
            os.setsid()
            time.sleep(20)
        os._exit(3)


class Recurses(Quiet):
    def happen(self) -> None:
        self.happen()


class TakesAllMemory(Quiet):
    def happen(self) -> None:
        self.heap = bytearray(1 << 45)


class Prints(Quiet):
    def happen(self) -> None:
        print("x" * 1_000_000)  # noqa: T201
        os.write(1, b"y" * 1_000_000)
        os.write(2, b"z" * 1_000_000)


class ReadsInput(Quiet):
    def happen(self) -> None:
        input()


class ClosesEverything(Quiet):
    def happen(self) -> None:
        os.closerange(0, 1000)


class WritesEverywhere(Quiet):
    def happen(self) -> None:
        for fd in range(3, 4096):
            with contextlib.suppress(OSError):
                os.write(fd, b"\4\0\0\0\xc1\xc1\xc1\xc1")


class Interrupts(Quiet):
    def happen(self) -> None:
        raise KeyboardInterrupt


class BadError(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


class RaisesWithoutText(Quiet):
    def happen(self) -> None:
        raise BadError


class ReturnsFour(Quiet):
    def step(self, action: Any) -> Any:
        return self.see(), 0.0, True, {}


class PaysAVector(Quiet):
    def step(self, action: Any) -> Any:
        return self.see(), np.ones(2), True, False, {}


class PaysNothingKnown(Quiet):
    def step(self, action: Any) -> Any:
        return self.see(), float("nan"), True, False, {}


class TellsAList(Quiet):
    def step(self, action: Any) -> Any:
        return self.see(), 0.0, True, False, []


class TellsObjects(Quiet):
    def step(self, action: Any) -> Any:
        told = {"where": self, "many": {1, 2}, "big": 1 << 200, "half": "\ud800", 3: np.float32(0.5)}
        return self.see(), 0.0, True, False, told


class ShowsAnObject(Quiet):
    def see(self) -> Any:
        return self


class HasNoSpaces(Quiet):
    def __init__(self) -> None:
        self.observation_space = self.action_space = None


class OddSpace(spaces.Space[str]):
    def sample(self, mask: Any = None, probability: Any = None) -> str:
        return "ahead"

    def contains(self, x: Any) -> bool:
        return x == "ahead"


class HasAnOddSpace(Quiet):
    def __init__(self) -> None:
        super().__init__()
        self.action_space = spaces.Dict({"move": OddSpace(), "speed": spaces.Discrete(3)})

    def step(self, action: Any) -> Any:
        assert action["move"] == "ahead"
        return super().step(action)


class SettlesLate(Quiet):
    def __init__(self) -> None:
        super().__init__()
        self.observation_space = spaces.Discrete(2)

    def reset(self, **options: Any) -> Any:
        self.observation_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
        return super().reset(**options)


class HashOrdered(Quiet):
    def see(self) -> Any:
        return np.full(2, hash("lantern") % 1000 / 1000, np.float32)


for _kind in [Quiet, *Quiet.__subclasses__()]:
    gymnasium.register(f"Odd{_kind.__name__}-v0", _kind)
