from heapq import heappop, heappush


class BerthClerk:
    def __init__(self, count):
        self.count, self.by_ship, self.by_berth, self.heap = count, {}, {}, []

    def arrive(self, ship):
        if ship in self.by_ship:
            return self.by_ship[ship]
        while self.heap and self.heap[0] in self.by_berth:
            heappop(self.heap)
        berth = heappop(self.heap) if self.heap else len(self.by_berth) + 1
        if berth > self.count:
            return -1
        self.by_ship[ship], self.by_berth[berth] = berth, ship
        return berth

    def leave(self, ship):
        berth = self.by_ship.pop(ship, -1)
        if self.by_berth.pop(berth, None) is not None:
            heappush(self.heap, berth)
        return berth
