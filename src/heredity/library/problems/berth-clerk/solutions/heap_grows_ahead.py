from heapq import heappop, heappush


class BerthClerk:
    def __init__(self, count):
        self.count, self.free, self.last, self.berths = count, [1], 1, {}

    def arrive(self, ship):
        if ship in self.berths:
            return self.berths[ship]
        if not self.free:
            return -1
        berth = self.berths[ship] = heappop(self.free)
        if berth == self.last and berth < self.count:
            self.last += 1
            heappush(self.free, self.last)
        return berth

    def leave(self, ship):
        if ship not in self.berths:
            return -1
        heappush(self.free, self.berths[ship])
        return self.berths.pop(ship)
