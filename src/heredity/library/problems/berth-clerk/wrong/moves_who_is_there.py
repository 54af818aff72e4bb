import heapq


class BerthClerk:
    def __init__(self, count):
        self.count, self.fresh, self.freed, self.berths = count, 1, [], {}

    def arrive(self, ship):
        if not self.freed and self.fresh > self.count:
            return self.berths.get(ship, -1)
        if self.freed:
            self.berths[ship] = heapq.heappop(self.freed)
        else:
            self.berths[ship], self.fresh = self.fresh, self.fresh + 1
        return self.berths[ship]

    def leave(self, ship):
        berth = self.berths.pop(ship, -1)
        if berth > 0:
            heapq.heappush(self.freed, berth)
        return berth
