from bisect import insort


class BerthClerk:
    def __init__(self, count):
        self.count, self.fresh, self.freed, self.berths = count, 1, [], {}

    def arrive(self, ship):
        if ship in self.berths:
            return self.berths[ship]
        if self.freed:
            self.berths[ship] = -self.freed.pop()
        elif self.fresh <= self.count:
            self.berths[ship] = self.fresh
            self.fresh += 1
        return self.berths.get(ship, -1)

    def leave(self, ship):
        if ship not in self.berths:
            return -1
        berth = self.berths.pop(ship)
        insort(self.freed, -berth)
        return berth
