"""The planner for symbolic grids: breadth-first search over a map that a program remembers.

It serves any observation that shows the cells around an agent as small integers, the agent in the middle of the last row
of the view and facing away from it, zero meaning "not seen" (MiniGrid's convention, and that of games made after it). What
the cells mean is not told: the floor is what the agent stands on at first, and of everything else the planner tries the
actions it was given, one after the other, until the view changes. What none of them changes is an obstacle, until the agent
holds something else. Where nothing is left to try it tries the actions on the spot; what it lets go of then stays put aside.
"""

from __future__ import annotations

MAP_SOURCE = '''
class Map:
    """Cells remembered relative to the start; plans by breadth-first search to what is unknown."""

    AROUND = ((0, -1), (1, 0), (0, 1), (-1, 0))

    def __init__(self, actions):
        self.actions, self.cells, self.place, self.heading = actions, {}, (0, 0), 0
        self.walkable, self.useless, self.target, self.tries = set(), set(), None, 0
        self.aside, self.stuck = set(), 0
        self.view = self.held = self.last = None

    def look(self, view):
        """Learn from the view what the last action did, and remember the cells in it."""
        view = np.asarray(view)
        columns, rows = view.shape[:2]
        own = tuple(view[columns // 2, rows - 1].tolist())
        if self.view is None:
            self.floor = own
            self.walkable.add(own)
        elif self.last is not None:
            self.follow(*self.last, changed=not np.array_equal(view, self.view))
        released = self.last is not None and self.last[0] == "free" and own != self.held
        if own != self.held:
            self.useless.clear()
        self.view, self.held, self.last = view, own, None
        forward, right = self.AROUND[self.heading], self.AROUND[(self.heading + 1) % 4]
        for i in range(columns):
            for j in range(rows):
                code, a, b = tuple(view[i, j].tolist()), rows - 1 - j, i - columns // 2
                if code[0]:
                    at = (self.place[0] + a * forward[0] + b * right[0], self.place[1] + a * forward[1] + b * right[1])
                    self.cells[at] = code
        self.cells[self.place] = self.floor
        if released:
            self.aside.add(self.cells.get((self.place[0] + forward[0], self.place[1] + forward[1])))

    def follow(self, kind, value, size, changed):
        if kind == "turn":
            self.heading = (self.heading + value) % 4
        elif kind == "free":
            self.tries = 0
        elif kind == "walk" or (changed and self.tries == 0):
            self.walkable.add(self.cells[value])
            self.place = value
        elif changed:
            self.tries = 0
        else:
            self.tries += 1
            if self.tries >= size:
                self.useless.add(self.cells[value])
                self.tries = 0

    def search(self):
        """The cell to go to and what to face there: the nearest thing not understood, else the nearest place not seen."""
        queue, before, unseen = [self.place], {self.place: None}, None
        for cell in queue:
            for x, y in self.AROUND:
                other = (cell[0] + x, cell[1] + y)
                code = self.cells.get(other)
                if code in self.walkable:
                    if other not in before:
                        before[other] = cell
                        queue.append(other)
                elif code is None:
                    unseen = unseen or (cell, other)
                elif code not in self.useless and code not in self.aside:
                    return cell, other, before
        return (*unseen, before) if unseen else (None, None, before)

    def seek(self, left, right, ahead, uses):
        """The control of the next action: turn left or right, go ahead, or one of the uses on what is in front."""
        return (2 * self.step(left, right, (ahead, *uses)) + 1) / self.actions - 1

    def step(self, left, right, uses):
        cell, other, before = self.search()
        if cell is None:
            number = self.stuck % len(uses)
            self.stuck += 1
            if number == len(uses) - 1:
                self.last = ("turn", -1, 0)
                if self.stuck % (4 * len(uses)) == 0:
                    self.useless.clear()
                return left
            self.last = ("free", None, 0)
            return uses[number + 1]
        if other != self.target:
            self.target, self.tries = other, 0
        towards = other
        while cell != self.place:
            cell, towards = before[cell], cell
        turn = (self.AROUND.index((towards[0] - cell[0], towards[1] - cell[1])) - self.heading) % 4
        if turn:
            self.last = ("turn", -1 if turn == 3 else 1, 0)
            return left if turn == 3 else right
        if towards not in self.cells:
            self.cells[towards] = ()
            return self.step(left, right, uses)
        self.last = ("walk" if towards != other else "use", towards, len(uses))
        return uses[0] if towards != other else uses[min(self.tries, len(uses) - 1)]
'''
