"""Offline models: small deterministic programs in a language model's place, for experiments that need no account.

They are honest about what they can do: `offline/rule-follower` answers by the rules that stand in its prompt and by nothing
else, `offline/rule-inducer` writes such rules from the attempts it is shown, by search over a fixed list of skills, and
`offline/world-learner` does the like for players of worlds. What they show is that a method, a session and a judge work as
they should. What they cannot show is how well a method does with a language model.
"""

from __future__ import annotations

from collections.abc import Mapping

from heredity.errors import UnknownNameError
from heredity.gateway.contract import Model
from heredity.gateway.offline.follower import RuleFollower
from heredity.gateway.offline.inducer import RuleInducer
from heredity.gateway.offline.world_learner import WorldLearner

_MODELS: Mapping[str, type[RuleFollower] | type[RuleInducer] | type[WorldLearner]] = {
    "rule-follower": RuleFollower,
    "rule-inducer": RuleInducer,
    "world-learner": WorldLearner,
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
