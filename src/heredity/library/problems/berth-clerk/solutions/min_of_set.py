class BerthClerk:
    def __init__(self, count):
        self.count, self.fresh, self.freed, self.berths, self.low = count, 1, set(), {}, 1

    def arrive(self, ship):
        if ship in self.berths:
            return self.berths[ship]
        if self.freed:
            while self.low not in self.freed:
                self.low += 1
            self.freed.remove(self.low)
            berth = self.low
        elif self.fresh <= self.count:
            berth, self.fresh = self.fresh, self.fresh + 1
        else:
            return -1
        self.berths[ship] = berth
        return berth

    def leave(self, ship):
        berth = self.berths.pop(ship, -1)
        if berth > 0:
            self.freed.add(berth)
            self.low = min(self.low, berth)
        return berth
