class BerthClerk:
    """A tree of counts of free berths; it doubles when it is full."""

    def __init__(self, count):
        self.count, self.size, self.free, self.berths = count, 1, [0, 1], {}

    def add(self, at, by):
        at += self.size
        while at:
            self.free[at] += by
            at //= 2

    def arrive(self, ship):
        if ship in self.berths:
            return self.berths[ship]
        if len(self.berths) == self.count:
            return -1
        if not self.free[1]:
            old = self.free[self.size :]
            self.size *= 2
            self.free = [0] * self.size + old + [1] * len(old)
            for at in range(self.size - 1, 0, -1):
                self.free[at] = self.free[2 * at] + self.free[2 * at + 1]
        at = 1
        while at < self.size:
            at = 2 * at if self.free[2 * at] else 2 * at + 1
        at -= self.size
        self.add(at, -1)
        self.berths[ship] = at + 1
        return at + 1

    def leave(self, ship):
        berth = self.berths.pop(ship, -1)
        if berth > 0:
            self.add(berth - 1, 1)
        return berth
