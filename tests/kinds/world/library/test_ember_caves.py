"""Ember caves: what seems safe is not."""

from __future__ import annotations

from heredity.kinds.world.world import world
from heredity.library.worlds.ember_caves.dynamics import GENTLE, perilous


def test_who_reads_signs_as_they_seem_errs_in_most_chambers() -> None:
    levels = [level.data for split in world("ember_caves").shipped.values() for level in split]
    chambers = [(pair, level["weights"]) for level in levels for row in level["signs"] for pair in row]
    plain = [(pair, weights) for pair, weights in chambers if (pair[0] < GENTLE) == (pair[1] < GENTLE)]
    assert all((pair[0] < GENTLE) is perilous(pair, weights) for pair, weights in plain)
    assert len(plain) / len(chambers) > 2 / 3
