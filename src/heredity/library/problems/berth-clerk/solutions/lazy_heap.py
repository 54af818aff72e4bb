from heapq import heappop, heappush


class BerthClerk:
    def __init__(self, count):
        self.count, self.heap, self.top, self.berths = count, [], 0, {}

    def arrive(self, ship):
        berth = self.berths.get(ship)
        if berth:
            return berth
        try:
            berth = heappop(self.heap)
        except IndexError:
            if self.top == self.count:
                return -1
            self.top += 1
            berth = self.top
        self.berths[ship] = berth
        return berth

    def leave(self, ship):
        try:
            berth = self.berths.pop(ship)
        except KeyError:
            return -1
        heappush(self.heap, berth)
        return berth
