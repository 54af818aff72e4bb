"""What an attack is: a short hostile program, and how it has to be stopped."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from heredity.resources import SourceTree

PRINTED = 1 << 18
"""Characters of stdout and of stderr that are kept of an attack's episode."""


@dataclass(frozen=True, slots=True)
class Attack:
    """One attempt to escape, to cheat or to do damage.

    It has succeeded if the host sees a planted secret in what came out, a connection, a changed file, a dead process, a
    thread that is still there, a reward that was not earned, an action that its space does not hold, or blame that is not
    the candidate's; or if the program says that something worked which must not, by a word that only it was given.

    Attributes:
        name: unique, such as `"read-shadow"`.
        category: what it goes for.
        what: one line.
        program: `policy.py`; beside it lie `kit.py` and `target.json`.
        files: further files of the program.
        action: the arena's action space: `"discrete"`, `"box"`, `"text"` or `"dict"`.
        rounds: episodes played at the same time, for each round in turn.
        limits: fields of `Limits` that differ from the suite's.
        stopped_by: statuses it may end with; empty allows every one but a timeout.
        submit: how its files become a program, where the attack is in that: gets a folder, a secret's path and the plain files.
    """

    name: str
    category: str
    what: str
    program: str
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    action: str = "discrete"
    rounds: tuple[int, ...] = (1,)
    limits: Mapping[str, float] = field(default_factory=dict[str, float])
    stopped_by: frozenset[str] = frozenset()
    submit: Callable[[Path, Path, Mapping[str, str]], SourceTree] | None = None


TIMEOUTS = frozenset({"rollout_timeout", "init_timeout"})
"""Statuses of a program that was stopped by the clock."""


def policy(act: str = "return 0", *, top: str = "", init: str = "", reset: str = "") -> str:
    """Return a `policy.py` around the lines of an attack.

    Args:
        act: lines of `act(self, obs)`, where `self.t` counts calls from 1; an action of 0 follows.
        top: lines run when the module is imported.
        init: lines of the constructor, which has `obs_space`, `action_space` and `env_meta`.
        reset: lines of `reset(self, episode_index)`.
    """
    bodies = [textwrap.indent(textwrap.dedent(part).strip() or "pass", " " * 8) for part in (init, reset, act)]
    return (
        "import ctypes, json, os, struct, sys, threading, time\n"
        "from kit import *\n"
        f"{textwrap.dedent(top).strip()}\n\n"
        "class Policy:\n"
        f"    def __init__(self, obs_space, action_space, env_meta):\n        self.t = 0\n{bodies[0]}\n"
        f"    def reset(self, episode_index):\n        self.index = episode_index\n{bodies[1]}\n"
        f"    def act(self, obs):\n        self.t += 1\n{bodies[2]}\n        return 0\n"
    )
