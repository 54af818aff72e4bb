"""The terms of a run: everything an agent may know of it, and errors in the agent's names of files."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import heredity
from heredity._core.errors import ConfigError
from heredity.resources import SourceTree
from heredity.results.text import clean
from heredity.sandbox.agent_bubblewrap import INSIDE
from heredity.sandbox.limits import Limits
from heredity.tasks import TasksetInfo

_PLACE = re.compile(r"(?<![\w…./])/(?:[^\s/'\"]+/)+([^\s/'\":;,)]*)")


def for_agent(message: str, workspace: Path) -> str:
    """Return a message in a form safe for an agent.

    The workspace gets the name that the agent knows (`/workspace`), other paths are cut to their last part, and control
    and bidirectional characters are escaped.

    Args:
        message: the error message.
        workspace: the agent's workspace on the host.
    """
    own = workspace.resolve()
    hidden = (own.parent, Path(heredity.__file__).parent, Path(sys.prefix), Path(tempfile.gettempdir()), Path.home())
    text = message
    for root in dict.fromkeys(map(str, (workspace, own))):
        text = text.replace(root, INSIDE)
    for root in sorted(dict.fromkeys(map(str, hidden)), key=len, reverse=True):
        if root != "/":
            # Known roots first: there may be spaces in their names.
            text = re.sub(rf"{re.escape(root)}(?:/[^\s:;,'\"()]*)?", lambda match: f"…/{Path(match[0]).name}", text)
    return clean(_PLACE.sub(lambda match: match[0] if match[0].startswith(f"{INSIDE}/") else f"…/{match[1]}", text))


PROTOCOL_VERSION = "0.1"
"""Version of the HTTP protocol and of the feedback files (EvoPolicyGym's names and fields)."""


@dataclass(frozen=True, slots=True)
class RunTerms:
    """Terms of a run, as given to an agent.

    Attributes:
        taskset: the tasks; only `name`, `description` and `public` are ever shown.
        train_tasks: number of train task indices (0 .. train_tasks - 1).
        episode_budget: episodes of the whole run.
        min_episodes: minimum number of episodes of one submission.
        max_episodes: maximum number of episodes of one submission.
        limits: limits of one rollout.
        allowed_imports: packages that a policy may import in addition to the standard library.
        denied_imports: packages named as forbidden, for clarity (all others that are not allowed are missing too).
        tools: whether it has tools of this process.
    """

    taskset: TasksetInfo
    train_tasks: int
    episode_budget: int
    min_episodes: int = 1
    max_episodes: int = 128
    limits: Limits = Limits()  # noqa: RUF009 - frozen
    allowed_imports: tuple[str, ...] = ("numpy",)
    denied_imports: tuple[str, ...] = ()
    tools: bool = False

    def __post_init__(self) -> None:
        for name in ("train_tasks", "episode_budget", "min_episodes", "max_episodes"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if self.min_episodes > self.max_episodes:
            raise ConfigError(f"min_episodes ({self.min_episodes}) exceeds max_episodes ({self.max_episodes})")

    @property
    def env(self) -> str:
        """The environment's name as agents see it."""
        return str(self.taskset.public.get("env", self.taskset.name))

    @property
    def external_observations(self) -> bool:
        """True if observations are too large for rows and are stored in a separate file."""
        return self.taskset.public.get("obs_storage", "inline") == "external"

    @property
    def reward_components(self) -> dict[str, str]:
        """Declared parts of the reward: the agents' name to the key of `info` with its value."""
        declared = self.taskset.public.get("reward_components") or {}
        if isinstance(declared, Mapping):
            return {str(k): str(v) for k, v in declared.items()}  # pyright: ignore[reportUnknownVariableType]
        return {str(k): str(k) for k in declared}

    @property
    def width(self) -> int:
        """Digits of submission and episode numbers in folder names: at least 3."""
        return max(3, len(str(self.episode_budget)))

    def describe(self) -> dict[str, Any]:
        """Return the constant part of `GET /info` (EvoPolicyGym's fields)."""
        meta = dict(self.taskset.public)
        meta.setdefault("env", self.taskset.name)
        meta.setdefault("obs_storage", "inline")
        meta["n_env_instances"] = self.train_tasks
        return {
            "protocol_version": PROTOCOL_VERSION,
            "env_meta": meta,
            "episode_budget": self.episode_budget,
            "min_episodes_per_submit": self.min_episodes,
            "max_episodes_per_submit": self.max_episodes,
            "resource_limits": {
                "rollout_wall_s": self.limits.episode_s,
                "memory_bytes": self.limits.memory_bytes,
                "init_wall_s": self.limits.init_s,
                "act_wall_s": self.limits.act_s,
                "scratch_bytes": self.limits.scratch_bytes,
                "output_bytes": self.limits.output_bytes,
            },
            "allowed_imports": list(self.allowed_imports),
            "denied_imports": list(self.denied_imports),
        }


@dataclass(frozen=True, slots=True)
class Briefing:
    """Texts for an agent's start, worded by its protocol.

    Attributes:
        agent: makes AGENTS.md: the goal, the budget, the program to write, how to submit, how to read feedback.
        task: makes TASK.md, also returned by `GET /task`.
        starter: the default initial program.
    """

    agent: Callable[[RunTerms], str]
    task: Callable[[RunTerms], str]
    starter: SourceTree


def submitting(terms: RunTerms) -> str:
    """Return the instructions for submitting a program, common to all evolved programs."""
    last = min(3, terms.train_tasks - 1)
    return f"""## Submitting

Training cases are the numbers 0 to {terms.train_tasks - 1}. The same number is the same case every time. A submission
names {terms.min_episodes} to {terms.max_episodes} of them, in any order, repeats allowed; each entry costs one
episode. Three ways, one budget:

```sh
heredity submit --episodes "0-{last}" --json       # inclusive ranges and single numbers: "0-3,7"
submit program --episodes "0:{last + 1}"           # half-open ranges: "0:2,4:8"
curl -s -X POST "$EVOPOLICYGYM_SUBMIT_URL" -H 'Content-Type: application/json' -d '{{"env_instances": [0, 1]}}'
```

`$EVOPOLICYGYM_INFO_URL` and `$EVOPOLICYGYM_TASK_URL` answer `GET` with the state of the run (`heredity info`) and the
task. The same server listens on the Unix socket `$HEREDITY_SOCKET`. `env_instances` is a list or a text such as
`"0-3,7"`. Add `"key": "any text"` to make a request safe to repeat: the same key is charged once. Add `"note": "…"`
to say what you changed.

The answer `{{"submit_id": …, "status": …, "summary": {{…}}}}` comes when the feedback is on disk. A malformed request
is refused with status 400 and costs nothing. After that, everything costs what was asked for, a program that cannot
be imported included. Code 409 (`run_closed`) means that the run is over. `heredity finish` ends it early. The
commands return 0 when the program ran, 1 when it failed as a whole, 2 for a wrong command line, 3 when the request
was refused, 4 when the run is closed, and 5 when the host cannot be reached.
"""
