from bisect import bisect_left, insort


class WeighingRoom:
    def __init__(self):
        self.history, self.ordered = [], []

    def add(self, weight):
        self.history.append(weight)
        insort(self.ordered, weight)

    def undo(self, count):
        for _ in range(min(count, len(self.history))):
            del self.ordered[bisect_left(self.ordered, self.history.pop())]

    def middle(self):
        return self.ordered[len(self.ordered) // 2] if self.ordered else 0
