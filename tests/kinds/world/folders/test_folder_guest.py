"""The guest's side of a world folder, by itself: what makes a search faster changes nothing of what is searched."""

from __future__ import annotations

import copy
import importlib
import random
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest
from tests.kinds.world.exports.test_autoenv import OURS


@pytest.fixture
def guest(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(OURS))
    monkeypatch.setattr(copy, "deepcopy", copy.deepcopy)  # put back afterwards
    yield importlib.import_module
    for name in [name for name in sys.modules if name.startswith("world_folder_")]:
        del sys.modules[name]


def test_copies_made_faster_are_the_same(guest: Any) -> None:
    slow = copy.deepcopy
    shared = [1, 2.5, None, True, "x"]
    plain: dict[str, Any] = {"a": [shared, shared], (1, "k"): {"b": (1, [2]), "inf": float("inf")}, "s": {3}}
    odd = {"array": np.arange(3), "chance": random.Random(4), "count": Counter("aab"), "kind": int, "size": np.int64(3)}
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    guest("world_folder_guest")._copy_faster()
    assert copy.deepcopy is not slow
    made = copy.deepcopy(plain)
    assert made == plain
    assert made["a"][0] is made["a"][1] is not shared
    assert made[1, "k"]["b"][1] is not plain[1, "k"]["b"][1]
    other = copy.deepcopy([odd])[0]
    assert (type(other["array"]), type(other["size"]), other["count"], other["kind"]) == (
        np.ndarray,
        np.int64,
        Counter("aab"),
        int,
    )
    assert other["array"] is not odd["array"]
    assert other["chance"].random() == odd["chance"].random()
    with pytest.raises(RecursionError):
        slow(deep)
    with pytest.raises(RecursionError):
        copy.deepcopy(deep)


def test_values_stand_under_the_words_of_their_paths_best_first(guest: Any) -> None:
    module = guest("world_folder_choices")
    leaves = module.leaves_of(
        {"streams": [{"streamId": "s1", "open": True}, {"streamId": "s2"}], "prices": {"gold": 3, "tin": 1}, "note": ""}
    )
    standing = module._Standing(list(leaves))
    assert standing.pool("stream_id", "ID of the stream", "text") == ["s1", "streamId", "open", "s2"]
    assert standing.pool("metal", "one that has a price", "") == [3, "gold", 1, "tin"]
    assert standing.pool("metal", "one that has a price", "integer") == [3, 1]
    assert standing.pool("wind", "from where", "text") == []
