class BerthClerk:
    def __init__(self, count):
        self.count, self.taken, self.berths = count, set(), {}

    def arrive(self, ship):
        if ship in self.berths:
            return self.berths[ship]
        berth = 1
        while berth in self.taken:
            berth += 1
        if berth > self.count:
            return -1
        self.taken.add(berth)
        self.berths[ship] = berth
        return berth

    def leave(self, ship):
        berth = self.berths.pop(ship, -1)
        self.taken.discard(berth)
        return berth
