from bisect import insort


class WeighingRoom:
    def __init__(self):
        self.ordered = []

    def add(self, weight):
        insort(self.ordered, weight)

    def undo(self, count):
        del self.ordered[max(0, len(self.ordered) - count) :]

    def middle(self):
        return self.ordered[(len(self.ordered) - 1) // 2] if self.ordered else 0
