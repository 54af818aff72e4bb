class WeighingRoom:
    SIZE = 1 << 17

    def __init__(self):
        self.history, self.counts = [], [0] * (2 * self.SIZE)

    def change(self, weight, by):
        node = weight + self.SIZE
        while node:
            self.counts[node] += by
            node //= 2

    def add(self, weight):
        self.history.append(weight)
        self.change(weight, 1)

    def undo(self, count):
        for _ in range(min(count, len(self.history))):
            self.change(self.history.pop(), -1)

    def middle(self):
        if not self.history:
            return 0
        node, wanted = 1, (len(self.history) + 1) // 2
        while node < self.SIZE:
            node *= 2
            if self.counts[node] < wanted:
                wanted -= self.counts[node]
                node += 1
        return node - self.SIZE
