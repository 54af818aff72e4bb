"""What an agent reads when it starts: `AGENTS.md`, the task, and a first policy to improve."""

from __future__ import annotations

import json
from typing import Any

from heredity.resources import SourceTree
from heredity.server.terms import Briefing, RunTerms

STARTER_POLICY = '''\
"""A first policy: it answers every observation with an action from the middle of the action space."""

import numpy as np


class Policy:
    def __init__(self, obs_space, action_space, env_meta):
        self.action_space = action_space

    def reset(self, episode_index):
        pass

    def act(self, obs):
        return middle(self.action_space)


def middle(space):
    kind = space["type"]
    if kind == "Discrete":
        return int(space.get("start", 0)) + int(space["n"]) // 2
    if kind == "Box":
        low = np.broadcast_to(np.asarray(space["low"], dtype=np.float64), space["shape"])
        high = np.broadcast_to(np.asarray(space["high"], dtype=np.float64), space["shape"])
        return ((np.clip(low, -1e3, 1e3) + np.clip(high, -1e3, 1e3)) / 2).astype(space.get("dtype", "float32"))
    if kind == "MultiDiscrete":
        return np.asarray(space["nvec"]) // 2
    if kind == "MultiBinary":
        return np.zeros(space["n"], dtype=np.int8)
    raise NotImplementedError(f"write an action for a space of type {kind}")
'''
"""The program a run starts from when it names none."""


def task_text(terms: RunTerms) -> str:
    """Return the task in Markdown, as `GET /task` and `TASK.md` give it."""
    meta = terms.describe()["env_meta"]
    parts = [
        f"# {terms.env}\n",
        terms.taskset.description.strip() + "\n",
        "## Observations and actions\n",
        _block("obs_space", meta.get("obs_space")),
        _block("action_space", meta.get("action_space")),
    ]
    if meta.get("max_episode_steps") is not None:
        parts.append(f"An episode ends after {meta['max_episode_steps']} steps at the latest.\n")
    if terms.reward_components:
        names = ", ".join(f"`{name}`" for name in terms.reward_components)
        parts.append(f"The reward is reported in parts as well: {names}.\n")
    if terms.external_observations:
        parts.append("Observations are large: feedback keeps them in a file beside the rows, not in them.\n")
    return "\n".join(parts)


def agent_text(terms: RunTerms) -> str:
    """Return `AGENTS.md`: the goal, the budget, the policy's contract, how to submit, and how to read feedback."""
    digits = "N" * terms.width
    return "\n".join(
        (
            _goal(terms),
            _folders(digits),
            _contract(terms),
            submitting(terms),
            _feedback(terms, digits),
            _limits(terms),
        )
    )


def _goal(terms: RunTerms) -> str:
    return f"""# Improve a policy for {terms.env}

Write a policy that earns as much return as possible in episodes it has never seen. `TASK.md` describes the environment.

You learn by submitting the folder `system/`: the host runs it on training cases that you choose and writes down what
happened. You may spend **{terms.episode_budget} episodes** in all. When they are spent, or when you finish, every
version you submitted that ran without failing as a whole is tried on hidden validation cases; the best one is then
scored on other hidden cases, and that score is the result. A version that merely fits the training cases will not
win.

There is no simulator here and no network: the only way to see the environment is to submit. Your own thinking, and
whatever you compute inside this sandbox, costs no episodes. Submissions cannot be taken back, and your files are
never reset for you.
"""


def _folders(digits: str) -> str:
    return f"""## Folders

| path | what it is |
|---|---|
| `system/` | the program; yours to change. `system/policy.py` is where it starts. `program/` is another name for it |
| `feedback/submit_{digits}/` | what each submission gave, written by the host; read-only, counted from 0 |
| `TASK.md`, `run_meta.json` | the environment; the same facts as JSON. Read-only |
| `bin/` | the commands `heredity`, `submit` and `finish`; already on the path. Read-only |

Anything else you put beside them is yours and is not submitted. `/tmp` is small and vanishes with the run.
"""


def _contract(terms: RunTerms) -> str:
    imports = ", ".join(f"`{name}`" for name in terms.allowed_imports) or "nothing"
    return f"""## The policy

`system/policy.py` defines

```python
class Policy:
    def __init__(self, obs_space, action_space, env_meta: dict): ...
    def reset(self, episode_index: int) -> None: ...   # before the first step of an episode
    def act(self, obs): ...                            # one action that fits action_space
```

The spaces are `gymnasium.spaces` objects (`action_space.high`, `action_space.sample()`), and can be read by the keys of
their descriptions in TASK.md as well (`action_space["high"]`).

Or, instead of the class, `make_policy(context)` returning an object with `act(obs)`. Every episode gets a new object;
nothing is remembered between episodes except the files of `system/`, which a policy can read and not change. Modules
and data files beside `policy.py` can be imported and opened (the current folder is the program's). Besides the
standard library it may import: {imports}. A policy has no network, no subprocesses and no environment of its own. An
action outside the action space is repaired where that is possible and marked in the row's `info`; one that cannot be
repaired ends the episode as a failure.
"""


def submitting(terms: RunTerms) -> str:
    """Return how a program is submitted: the same for every program that is evolved."""
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


def _feedback(terms: RunTerms, digits: str) -> str:
    episode = "X" * terms.width
    return f"""## Feedback

```text
feedback/submit_{digits}/
  summary.json            status, returns, mean_return, episode_lengths, remaining_budget, errors, timeouts, …
  errors.txt              only when the submission failed as a whole: category, message, traceback
  episodes/ep_{episode}/        counted from 0 over the whole run; the first one is summary.first_global_episode
    trajectory.jsonl      one line a step: t, obs, action, reward, terminated, truncated, info
    observations.npy|npz  only when observations are too large for lines: entry t belongs to line t
    stdout.txt stderr.txt what the policy printed
    error.txt             only when the episode failed: category, message, traceback, step_index
```

`status` is `ok`, or why the whole submission failed: `missing_policy`, `denied_import`, `import_error`,
`init_timeout`, `init_error`, `oom`, `rollout_timeout`. A request that was refused has `budget_invalid`,
`invalid_env_instance` or `invalid_request`. In an ok submission single episodes may still have failed: `errors` and
`timeouts` list their positions. A failed episode scores {terms.taskset.failure_return:g} at most, in training and in
the final judgement. Numbers that JSON lacks are written as `"NaN"`, `"Inf"` and `"-Inf"`; a missing value is `null`.
"""


def _limits(terms: RunTerms) -> str:
    limits = terms.limits
    return f"""## Limits

| what | limit |
|---|---|
| importing and constructing the policy | {limits.init_s:g} s |
| one decision | {limits.act_s:g} s |
| one episode | {limits.episode_s:g} s |
| memory of a policy | {limits.memory_bytes >> 20} MiB |
| files a policy may write, wiped after each episode | {limits.scratch_bytes >> 20} MiB |
| stdout and stderr kept for each episode | {limits.output_bytes >> 10} KiB each |
"""


def _block(name: str, value: Any) -> str:
    return f"`{name}`:\n\n```json\n{json.dumps(value, indent=1, default=str)}\n```\n"


BRIEFING = Briefing(agent_text, task_text, SourceTree({"policy.py": STARTER_POLICY}))
"""What an agent that evolves a policy is told."""
