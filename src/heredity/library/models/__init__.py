"""Offline models: small deterministic programs that stand in for a language model, for experiments without an account.

- `offline/rule-follower` answers only by the rules in its prompt.
- `offline/rule-inducer` writes such rules from rollouts, by search over a fixed list of skills.
- `offline/world-learner` does the same for players of worlds.
- `offline/shell-worker` works on Heredity's container tasks, with bad habits that its harness must correct.
- `offline/harness-writer` corrects them from evidence in rollouts.
- `offline/world-author` writes worlds from themes in its vocabulary.
- `offline/town-worker` plays all models of a team that answers questions about a small web.
- `offline/town-optimizer` edits that team's prompts, for better and for worse.
- `offline/reviser` answers, assesses and revises by a plan for each question; `offline/coder` writes programs likewise.

They show that a method, a session and a judge work correctly. They cannot show how good a method is with a language
model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from heredity._core.errors import UnknownNameError
from heredity.library.models.coder import Coder
from heredity.library.models.follower import RuleFollower
from heredity.library.models.harness_writer import CarelessHarnessWriter, HarnessWriter
from heredity.library.models.inducer import RuleInducer
from heredity.library.models.reviser import Reviser
from heredity.library.models.shell_worker import NarrowShellWorker, ShellWorker
from heredity.library.models.town_optimizer import TownOptimizer
from heredity.library.models.town_worker import TownWorker
from heredity.library.models.world_learner import WorldLearner
from heredity.library.models.world_writer import CarelessWorldWriter, WorldWriter
from heredity.models.contract import Model

_MODELS: Mapping[str, Callable[[], Model]] = {
    "rule-follower": RuleFollower,
    "rule-inducer": RuleInducer,
    "coder": Coder,
    "reviser": Reviser,
    "world-learner": WorldLearner,
    "shell-worker": ShellWorker,
    "town-worker": TownWorker,
    "town-optimizer": TownOptimizer,
    "shell-worker-narrow": NarrowShellWorker,
    "world-author": WorldWriter,
    "world-author-careless": CarelessWorldWriter,
    "harness-writer": HarnessWriter,
    "harness-writer-careless": CarelessHarnessWriter,
}


def open_model(rest: str, settings: object | None = None) -> Model:
    """Return an offline model by name.

    Raises:
        UnknownNameError: if the name is unknown.
    """
    if rest not in _MODELS:
        raise UnknownNameError("offline model", rest, _MODELS)
    return _MODELS[rest]()


def model_names() -> tuple[str, ...]:
    """Return the names of the offline models."""
    return tuple(_MODELS)
