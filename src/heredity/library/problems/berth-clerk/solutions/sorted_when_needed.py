class BerthClerk:
    def __init__(self, count):
        self.count, self.fresh, self.berths = count, 1, {}
        self.ready, self.freed = [], []

    def arrive(self, ship):
        if ship in self.berths:
            return self.berths[ship]
        if self.freed and (len(self.freed) > 50 or not self.ready or min(self.freed) < self.ready[-1]):
            self.ready = sorted(self.ready + self.freed, reverse=True)
            self.freed = []
        if self.ready:
            berth = self.ready.pop()
        elif self.fresh <= self.count:
            berth = self.fresh
            self.fresh += 1
        else:
            return -1
        self.berths[ship] = berth
        return berth

    def leave(self, ship):
        if ship in self.berths:
            self.freed.append(self.berths[ship])
        return self.berths.pop(ship, -1)
