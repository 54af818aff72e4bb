"""Definition of an attack: a short hostile program, and the ways it must be stopped."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from heredity.resources import SourceTree

PRINTED = 1 << 18
"""Characters of stdout and of stderr kept from an attack's episode."""


@dataclass(frozen=True, slots=True)
class Attack:
    """One attempt to escape, cheat or do damage.

    It succeeds if the host sees a planted secret in its output, a connection, a changed file, a dead process, a
    surviving thread, an unearned reward, an action outside the space, or a failure attributed to something other than
    the candidate. It also succeeds if the program reports that something forbidden worked, with a word given only to
    it.

    Attributes:
        name: unique, such as `"read-shadow"`.
        category: target of the attack.
        what: description, one line.
        program: `policy.py`; `kit.py` and `target.json` are in the same folder.
        files: further files of the program.
        action: the arena's action space: `"discrete"`, `"box"`, `"text"` or `"dict"`.
        rounds: number of concurrent episodes in each successive round.
        limits: fields of `Limits` that differ from the suite's.
        stopped_by: allowed statuses; empty allows all except a timeout.
        submit: turns its files into a program, for attacks on that step; gets a folder, a secret's path and the plain
            files.
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
"""Statuses of a program stopped by a timeout."""


def policy(act: str = "return 0", *, top: str = "", init: str = "", reset: str = "") -> str:
    """Return a `policy.py` around the lines of an attack.

    Args:
        act: lines of `act(self, obs)`, where `self.t` counts calls from 1; it then returns the action 0.
        top: lines run on import.
        init: lines of the constructor, with access to `obs_space`, `action_space` and `env_meta`.
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
