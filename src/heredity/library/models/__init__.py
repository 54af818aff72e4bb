"""Offline models: small deterministic programs in a language model's place, for experiments that need no account.

They are honest about what they can do: `offline/rule-follower` answers by the rules that stand in its prompt and by nothing
else, `offline/rule-inducer` writes such rules from the rollouts it is shown, by search over a fixed list of skills, and
`offline/world-learner` does the like for players of worlds. `offline/shell-worker` works on the container tasks that come
with Heredity, with habits that its harness has to mend, and `offline/harness-writer` mends them by what rollouts have shown.
`offline/world-author` writes worlds from themes in its vocabulary. `offline/town-worker` is all models of a team that looks up
what is asked about a small web, and `offline/town-optimizer` edits that team's prompts, for better and for worse.
`offline/reviser` answers, assesses and revises by a plan for each question, and `offline/coder` writes programs likewise.
What they show is that a method, a session and a judge work as they should. What they cannot show is how well a method does
with a language model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from heredity.errors import UnknownNameError
from heredity.gateway.contract import Model
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
    """Return the offline model of that name.

    Raises:
        UnknownNameError: if there is none.
    """
    if rest not in _MODELS:
        raise UnknownNameError("offline model", rest, _MODELS)
    return _MODELS[rest]()


def model_names() -> tuple[str, ...]:
    """Return the names of the offline models."""
    return tuple(_MODELS)
