"""A player that takes what it reads at its word, for three worlds: it walks where the map says path, marks the intensities
that the instruction describes, and paints the values that the picture's law asks for.

It does well as long as the skin tells the truth, and shows what an inverse skin costs an agent that never doubts it.
"""

import re
from collections import Counter, deque

STEPS = {"north": (-1, 0), "south": (1, 0), "west": (0, -1), "east": (0, 1)}


class Player:
    """Plays one episode of `grid_treasure`, `field_probe` or `pattern_canvas`; anything else it leaves alone."""

    def __init__(self, instruction, actions, prompts, memories):
        names = {action["name"] for action in actions}
        self.play = self.paint if "paint" in names else self.probe if "mark" in names else self.explore
        self.known = {}
        self.visits = Counter()
        self.route = None

    def act(self, observation):
        """Return an action for what is read."""
        return self.play(observation)

    # --- a maze: walk along what is drawn as path, to the treasure if it is seen, else to what is unknown

    def explore(self, text):
        at = position(text)
        rows = [line for line in text.splitlines() if "@" in line or (set(line) <= set("#. T") and len(line) == 5)]
        for r, row in enumerate(rows[:5]):
            for c, symbol in enumerate(row.ljust(5)):
                self.known[at[0] + r - 2, at[1] + c - 2] = symbol
        self.known[at] = "."
        self.visits[at] += 1
        goal = [cell for cell, symbol in self.known.items() if symbol == "T"]
        way = self.way(at, lambda cell: cell in goal) if goal else self.way(at, lambda cell: cell not in self.known)
        if way:
            return {"action": "move", "params": {"direction": way[0]}}
        around = sorted(STEPS, key=lambda d: self.visits[moved(at, d)])
        self.visits[moved(at, around[0])] += 1
        return {"action": "move", "params": {"direction": around[0]}}

    def way(self, start, wanted):
        queue, before = deque([start]), {start: None}
        while queue:
            cell = queue.popleft()
            if cell != start and wanted(cell):
                path = []
                while before[cell]:
                    cell, direction = before[cell]
                    path.append(direction)
                return path[::-1]
            for direction in STEPS:
                other = moved(cell, direction)
                if other not in before and (self.known.get(other, "?") in ".T?" or wanted(other)):
                    before[other] = (cell, direction)
                    if self.known.get(other, "?") != "#":
                        queue.append(other)
        return None

    # --- a field: sweep it in strides of three, and mark the cell that looks as the instruction says

    def probe(self, text):
        at, size = position(text), int(re.search(r"field of (\d+)", text)[1])
        patch = [line for line in text.splitlines() if re.fullmatch(r"[0-3x]{3}", line.replace(" ", ""))][:3]
        for r, row in enumerate(patch):
            for c, symbol in enumerate(row.replace(" ", "")):
                self.known[at[0] + r - 1, at[1] + c - 1] = symbol
        node = next((cell for cell in self.known if self.looks_right(cell)), None)
        if node == at:
            return {"action": "mark", "params": {}}
        if self.route is None:
            columns = sorted({*range(1, size - 1, 3), size - 2})
            lines = sorted({*range(1, size - 1, 3), size - 2})
            self.route = [(r, c) for i, r in enumerate(lines) for c in (columns if i % 2 == 0 else columns[::-1])]
        while self.route and (self.route[0] == at or all(self.seen(self.route[0]))):
            self.route.pop(0)
        target = node or (self.route[0] if self.route else at)
        for axis, (back, forth) in enumerate((("north", "south"), ("west", "east"))):
            gap = target[axis] - at[axis]
            if gap:
                return {
                    "action": "glide",
                    "params": {"direction": forth if gap > 0 else back, "cells": min(3, abs(gap))},
                }
        return {"action": "mark", "params": {}}

    def seen(self, cell):
        return [(cell[0] + r, cell[1] + c) in self.known for r in (-1, 0, 1) for c in (-1, 0, 1)]

    def looks_right(self, cell):
        near = {(r, c): self.known.get((cell[0] + r, cell[1] + c)) for r in (-1, 0, 1) for c in (-1, 0, 1)}
        return all(value == str(3 - abs(r) - abs(c)) for (r, c), value in near.items())

    # --- a canvas: the law that agrees with most of what is seen says what is masked

    def paint(self, text):
        row, column = position(text)
        lines = [line.replace(" ", "") for line in text.splitlines()]
        pixels = [list(line) for line in lines if re.fullmatch(r"[0-9?x@]{10}", line)][:10]
        masked = [(r, c) for r in range(10) for c in range(10) if pixels[r][c] == "?"]
        if "masked" in text.partition("Masked:")[0] and (row, column) not in masked:
            masked.append((row, column))
        if not masked:
            return {"action": "peek", "params": {}}
        target = min(masked, key=lambda cell: (abs(cell[0] - row) + abs(cell[1] - column), cell))
        if target != (row, column):
            for axis, (back, forth) in enumerate((("north", "south"), ("west", "east"))):
                gap = target[axis] - (row, column)[axis]
                if gap:
                    return {"action": "move", "params": {"direction": forth if gap > 0 else back, "cells": abs(gap)}}
        return {"action": "paint", "params": {"value": guess(pixels, row, column)}}


LAWS = [lambda r, c: (r, 9 - c), lambda r, c: (9 - r, c), lambda r, c: (9 - r, 9 - c), lambda r, c: (c, r)] + [
    lambda r, c, dr=dr, dc=dc: ((r + dr) % 10, (c + dc) % 10) for dr in (0, 2, 5) for dc in (0, 2, 5) if dr or dc
]


def guess(pixels, row, column):
    """Return the value that the best law gives; the commonest neighbour if none does."""
    votes = Counter()
    for law in LAWS:
        shifts = Counter()
        for r in range(10):
            for c in range(10):
                a, b = pixels[r][c], pixels[law(r, c)[0]][law(r, c)[1]]
                if a.isdigit() and b.isdigit():
                    shifts[int(a) - int(b)] += 1
        other = pixels[law(row, column)[0]][law(row, column)[1]]
        if shifts and other.isdigit():
            shift, count = shifts.most_common(1)[0]
            if 0 <= int(other) + shift <= 9:
                votes[int(other) + shift] += (count / sum(shifts.values())) ** 4
    return votes.most_common(1)[0][0] if votes else 0


def position(text):
    """Return the row and column that a text names."""
    match = re.search(r"row (\d+), column (\d+)", text)
    return int(match[1]), int(match[2])


def moved(cell, direction):
    """Return the cell one step away."""
    return cell[0] + STEPS[direction][0], cell[1] + STEPS[direction][1]
