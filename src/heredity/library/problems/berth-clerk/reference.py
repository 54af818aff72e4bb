import heapq


class BerthClerk:
    def __init__(self, count):
        self.count, self.fresh, self.freed, self.berths = count, 1, [], {}

    def arrive(self, ship):
        if ship in self.berths:
            return self.berths[ship]
        if self.freed:
            berth = heapq.heappop(self.freed)
        elif self.fresh <= self.count:
            berth = self.fresh
            self.fresh += 1
        else:
            return -1
        self.berths[ship] = berth
        return berth

    def leave(self, ship):
        berth = self.berths.pop(ship, -1)
        if berth > 0:
            heapq.heappush(self.freed, berth)
        return berth
