from bisect import insort


class BerthClerk:
    """Free berths as runs [first, last], sorted from the end."""

    def __init__(self, count):
        self.runs, self.berths = [(-1, count)], {}

    def arrive(self, ship):
        if ship in self.berths:
            return self.berths[ship]
        if not self.runs:
            return -1
        first, last = self.runs.pop()
        if -first < last:
            self.runs.append((first - 1, last))
        self.berths[ship] = -first
        return -first

    def leave(self, ship):
        if ship not in self.berths:
            return -1
        berth = self.berths.pop(ship)
        insort(self.runs, (-berth, berth))
        return berth
