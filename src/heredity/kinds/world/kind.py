"""The kind of worlds: players, a language model or programs, act in levels until they end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heredity.engine.kind import CONVERSING, Candidates, Kind, Needs, Opening
from heredity.engine.player import plain_player
from heredity.engine.runner import Runner
from heredity.kinds.world.runner import WorldRunner


def _open(opening: Opening) -> Runner:
    return WorldRunner(
        opening.model, programs=opening.programs, settings=opening.settings, concurrent=opening.concurrent
    )


def _schema() -> Mapping[str, Any]:
    from heredity._core.described import Described
    from heredity.kinds.world.description import Description

    return Description.model_json_schema(schema_generator=Described)


KIND = Kind(
    "world",
    _open,
    Needs(
        model="optional",
        programs=True,
        calls=(8, 60),
        reads=(*CONVERSING, "limits.init_s", "limits.act_s", "limits.steps"),
    ),
    Candidates(starter=lambda info: plain_player()),
    schema=_schema,
)
