from bisect import bisect_left, insort


class WeighingRoom:
    def __init__(self):
        self.low, self.high, self.history = [], [], []

    def level(self):
        while len(self.low) < len(self.high):
            self.low.append(self.high.pop(0))
        while len(self.low) > len(self.high) + 1:
            self.high.insert(0, self.low.pop())

    def add(self, weight):
        self.history.append(weight)
        insort(self.low if self.low and weight <= self.low[-1] else self.high, weight)
        self.level()

    def undo(self, count):
        while count and self.history:
            weight = self.history.pop()
            half = self.low if self.low and weight <= self.low[-1] else self.high
            del half[bisect_left(half, weight)]
            self.level()
            count -= 1

    def middle(self):
        return self.low[-1] if self.low else 0
