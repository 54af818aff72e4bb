class WeighingRoom:
    def __init__(self):
        self.weights = []

    def add(self, weight):
        self.weights.append(weight)

    def undo(self, count):
        for _ in range(min(count, len(self.weights))):
            self.weights.pop()

    def middle(self):
        low, high, wanted = 0, 100_000, (len(self.weights) + 1) // 2
        while high - low > 1:
            guess = (low + high) // 2
            if sum(1 for weight in self.weights if weight <= guess) >= wanted:
                high = guess
            else:
                low = guess
        return high if self.weights else 0
