class WeighingRoom:
    def __init__(self):
        self.history, self.coarse, self.fine = [], [0] * 401, [0] * 100_251

    def add(self, weight):
        self.history.append(weight)
        self.coarse[weight // 250] += 1
        self.fine[weight] += 1

    def undo(self, count):
        for _ in range(min(count, len(self.history))):
            weight = self.history.pop()
            self.coarse[weight // 250] -= 1
            self.fine[weight] -= 1

    def middle(self):
        if not self.history:
            return 0
        wanted, drawer = (len(self.history) + 1) // 2, 0
        while self.coarse[drawer] < wanted:
            wanted -= self.coarse[drawer]
            drawer += 1
        weight = drawer * 250
        while self.fine[weight] < wanted:
            wanted -= self.fine[weight]
            weight += 1
        return weight
