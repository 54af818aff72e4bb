"""Levels of `laser_bench`: solved benches, taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.library.worlds.laser_bench.dynamics import COLOURS, LAMPS, PIECES, lit, solved, trace

BLOCKS = 0.14
"""Share of the cells that are blocks."""
FLASHES = 3


class Benches(Levels):
    """Makes benches on which every piece of the tray is needed at its original place."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a bench; `answer` is the arrangement that it was made from."""
        size, mirrors, prisms = 5 + difficulty, 2 + difficulty, max(1, difficulty - 1)
        wanted = [COLOURS[int(c)] for c in rng.permutation(3)[: 2 if difficulty == 1 else 3]]
        while True:
            cells = self._bare(rng, size)
            order = ["prism", *_shuffled(rng, ["mirror"] * mirrors + ["prism"] * (prisms - 1))]
            pieces = self._arranged(rng, cells, size, order, wanted)
            if pieces and self._detected(rng, cells, size, pieces, wanted) and _all_needed(cells, size, pieces):
                break
        bolted = pieces[:1] if difficulty == 1 else []
        answer = [[_name(cells[at]), *divmod(at, size)] for at in pieces if at not in bolted]
        rows = "".join("." if at in pieces and at not in bolted else symbol for at, symbol in enumerate(cells))
        return {
            "grid": [rows[at : at + size] for at in range(0, size * size, size)],
            "mirrors": mirrors,
            "prisms": prisms - len(bolted),
            "flashes": FLASHES,
            "steps": 3 * len(answer) + 6,
            "answer": answer,
        }

    @staticmethod
    def _bare(rng: np.random.Generator, size: int) -> list[str]:
        """Return blocks, and a lamp at the edge that shines inwards."""
        cells = ["#" if rng.random() < BLOCKS else "." for _ in range(size * size)]
        side, offset = list(LAMPS)[int(rng.integers(4))], int(rng.integers(1, size - 1))
        row, column = {"^": (size - 1, offset), "v": (0, offset), "<": (offset, size - 1), ">": (offset, 0)}[side]
        cells[row * size + column] = side
        return cells

    @staticmethod
    def _arranged(
        rng: np.random.Generator, cells: list[str], size: int, order: Sequence[str], wanted: Sequence[str]
    ) -> list[int]:
        """Put the pieces one after another into the light, onto cells crossed by a wanted colour; none if it fails."""
        pieces: list[int] = []
        for kind in order:
            light = lit(cells, size)
            free = [at for at in sorted(light) if cells[at] == "." and any(c in light[at] for c in wanted)]
            if not free:
                return []
            at = free[int(rng.integers(len(free)))]
            cells[at] = "A" if kind == "prism" else "/\\"[int(rng.integers(2))]
            pieces.append(at)
        return pieces

    @staticmethod
    def _detected(
        rng: np.random.Generator, cells: list[str], size: int, pieces: Sequence[int], wanted: Sequence[str]
    ) -> bool:
        """Put a detector for each wanted colour behind its last piece, away from other colours; False if it fails."""
        for colour in wanted:
            light, path = lit(cells, size), trace(cells, size, colour)
            last = max((step for step, at in enumerate(path) if at in pieces), default=len(path))
            ends = [at for at in path[last + 1 :] if cells[at] == "." and light[at] == colour and path.count(at) == 1]
            if not ends:
                return False
            cells[ends[int(rng.integers(len(ends)))]] = colour
        return solved(cells, size)

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return 1: success pays 1 once, and the arrangement that the bench was made from succeeds."""
        return UpperBound(
            1.0, "exact", "success pays 1 once, and the arrangement that the bench was made from succeeds"
        )

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return the arrangement that the bench was made from, and a flash."""
        placed = [Action.of("place", piece=piece, row=row, column=column) for piece, row, column in level["answer"]]
        return [*placed, Action.of("flash")]


def _all_needed(cells: Sequence[str], size: int, pieces: Sequence[int]) -> bool:
    """Return True if the arrangement fails without any one of its pieces."""
    return not any(
        solved([*cells[:at], ".", *cells[at + 1 :]], size)  # the bench without this piece
        for at in pieces
    )


def _shuffled(rng: np.random.Generator, kinds: Sequence[str]) -> list[str]:
    return [kinds[int(index)] for index in rng.permutation(len(kinds))]


def _name(symbol: str) -> str:
    return next(name for name, drawn in PIECES.items() if drawn == symbol)


LEVELS = Benches()
