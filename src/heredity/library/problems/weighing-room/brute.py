class WeighingRoom:
    def __init__(self):
        self.weights = []

    def add(self, weight):
        self.weights.append(weight)

    def undo(self, count):
        del self.weights[max(0, len(self.weights) - count) :]

    def middle(self):
        ordered = sorted(self.weights)
        return ordered[(len(ordered) - 1) // 2] if ordered else 0
