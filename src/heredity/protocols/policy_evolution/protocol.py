"""Policy evolution (EvoPolicyGym): a program is improved on a budget of episodes, and judged on hidden cases."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from heredity.agents.terms import Briefing, RunTerms, submitting
from heredity.analysis.contract import CommonMetrics
from heredity.configuration.config import Cell, Config
from heredity.configuration.sections import EVERY_KEY, Section
from heredity.engine.kind import KINDS
from heredity.experiments.evolvers import build_evolver, check_evolver
from heredity.methods.starter import starter_candidate
from heredity.protocols.contract import Needs, Protocol, RunContext, Setup, SuiteContext
from heredity.protocols.shared.published import published_section
from heredity.protocols.shared.selection import judge, selected
from heredity.protocols.shared.validated_report import ValidatedReport
from heredity.resources import Candidate, SourceTree
from heredity.results import page
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults
from heredity.session.bench import Reference, judged_reference
from heredity.session.rollouts import gather
from heredity.session.views import ViewPlan, check_sizes


class ReferencesSection(Section):
    """`[references]`: baselines in addition to the random policy (without episodes of the budget).

    Attributes:
        null: a program that takes the null action at every step.
        constant: the best of a few programs that repeat one action, selected on the validation cases like checkpoints.
    """

    indifferent: ClassVar[tuple[str, ...]] = EVERY_KEY

    null: bool = True
    constant: bool = True


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
"""The default starting program."""


def task_text(terms: RunTerms) -> str:
    """Return the task in Markdown, for `GET /task` and `TASK.md`."""
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
"""Instructions for an agent that evolves a policy."""


NULL, CONSTANT = "null action", "constant action"
"""Names of the references that ignore observations."""


class PolicySetting:
    """Implements `heredity.protocols.contract.Setting`."""

    def needs(self, config: Config) -> Needs:
        """Request nothing beyond episodes."""
        return Needs(episodes=config.budget.episodes or 0)

    def check(self, cell: Cell, suite: SuiteContext) -> None:
        """Check the evolver, and that every split has enough tasks."""
        check_sizes(
            suite.tasksets[cell.taskset],
            {
                "budget.train_cases": ("train", cell.config.budget.train_cases),
                "views.validation": ("validation", cell.config.views.validation),
                "views.heldout": ("heldout", cell.config.views.heldout),
            },
        )
        check_evolver(cell, suite, BRIEFING)

    async def open(self, context: RunContext) -> Setup:
        """Return the run, with the random policy scored on its held-out cases."""
        cell, info, views = context.cell, context.taskset.info, context.cell.config.views
        random = starter_candidate(info)
        scored = await judged_reference(context.judgements, context.taskset, random, views.heldout)
        return Setup(
            evolver=build_evolver(cell, info, context.folder, context.suite.secrets, context.model, briefing=BRIEFING),
            judge=partial(judge, others=await _constant(context)),
            views=(
                ViewPlan("validation", "validation", views.validation),
                ViewPlan("heldout", "heldout", views.heldout),
            ),
            reference=Reference(random, scored.scores, "random"),
        )


async def _constant(context: RunContext) -> list[Reference]:
    """Return the references that ignore observations, with their held-out scores; none if actions hold no numbers."""
    section, views = context.cell.config.of(ReferencesSection), context.cell.config.views
    info, judged = context.taskset.info, partial(judged_reference, context.judgements, context.taskset)
    programs = KINDS.load(info.kind).candidates.constant(info)
    chosen: dict[str, Candidate] = {}
    if programs and section.null:
        chosen[NULL] = programs[0]
    if programs and section.constant:
        validated = await gather([judged(program, views.validation, "validation") for program in programs])
        means = [scores.mean for scores in validated]
        chosen[CONSTANT] = programs[means.index(max(means))]
    scored = [await judged(program, views.heldout) for program in chosen.values()]
    return [
        Reference(program, scores.scores, name) for (name, program), scores in zip(chosen.items(), scored, strict=True)
    ]


@dataclass(frozen=True)
class PolicyReport(ValidatedReport):
    """The report of policy evolution: also published results on its tasks."""

    def suite(self, suite: SuiteResults, runs: Sequence[RunResults]) -> list[page.Section]:
        """Return the sections of a suite's page."""
        return [*super().suite(suite, runs), *published_section(__package__ or "", runs)]


REPORT = PolicyReport()


METRICS = CommonMetrics(reference="random policy", returns=True)


PROTOCOL = Protocol(
    name="policy-evolution",
    summary="hidden validation picks a checkpoint of a program, hidden held-out cases score it",
    setting=PolicySetting(),
    sections={"references": ReferencesSection},
    baselines=("random", "best-of-n", "sequential"),
    metrics=METRICS,
    report=REPORT,
    selection=selected,
)
