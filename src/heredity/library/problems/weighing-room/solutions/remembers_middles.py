from bisect import bisect_left, insort


class WeighingRoom:
    def __init__(self):
        # The middle after each addition is kept: undoing need not find it again.
        self.rows, self.ordered = [], []

    def add(self, weight):
        insort(self.ordered, weight)
        self.rows.append((weight, self.ordered[(len(self.ordered) - 1) // 2]))

    def undo(self, count):
        gone = self.rows[max(0, len(self.rows) - count) :]
        del self.rows[len(self.rows) - len(gone) :]
        if len(gone) > 200:
            self.ordered = sorted(weight for weight, _ in self.rows)
        else:
            for weight, _ in gone:
                self.ordered.pop(bisect_left(self.ordered, weight))

    def middle(self):
        return self.rows[-1][1] if self.rows else 0
