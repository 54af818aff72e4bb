"""What molecules do in `molecular_kitchen`."""

from __future__ import annotations

import pytest

from heredity.library.worlds.molecular_kitchen.dynamics import Brew, Molecule, stirred

RING = Molecule("pelin", "ring", 0, 3)
HOOK = Molecule("quorin", "hook", 0, 2)
CHAIN = Molecule("rhodol", "chain", 2, 1)
FORK = Molecule("sabene", "fork", 1, 1)


@pytest.mark.parametrize(
    ("molecules", "taste"),
    [
        ((RING,), (3, 0, 0)),
        ((RING, HOOK), (1, 0, 0)),
        ((HOOK, RING), (3, 0, 0)),
        ((FORK, RING), (6, 0, 0)),
        ((FORK, FORK, RING), (9, 0, 0)),
        ((RING, CHAIN), (0, 0, 3)),
        ((RING, FORK, CHAIN), (3, 0, 0)),
        ((FORK, CHAIN, RING), (3, 0, 0)),
    ],
)
def test_the_taste_of_a_brew_depends_on_shapes_and_their_order(
    molecules: tuple[Molecule, ...], taste: tuple[int, int, int]
) -> None:
    brew = Brew()
    for molecule in molecules:
        brew = stirred(brew, molecule)
    assert brew.taste == taste
