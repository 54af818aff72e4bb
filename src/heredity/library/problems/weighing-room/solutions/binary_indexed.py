class WeighingRoom:
    def __init__(self):
        self.history, self.tree = [], [0] * (1 << 17)

    def change(self, weight, by):
        while weight < 1 << 17:
            self.tree[weight] += by
            weight += weight & -weight

    def add(self, weight):
        self.history.append(weight)
        self.change(weight, 1)

    def undo(self, count):
        while count and self.history:
            self.change(self.history.pop(), -1)
            count -= 1

    def middle(self):
        if not self.history:
            return 0
        wanted, place, step = (len(self.history) + 1) // 2, 0, 1 << 16
        while step:
            if self.tree[place + step] < wanted:
                place += step
                wanted -= self.tree[place]
            step >>= 1
        return place + 1
