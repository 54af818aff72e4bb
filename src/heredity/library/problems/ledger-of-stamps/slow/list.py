class StampLedger:
    def __init__(self, room):
        self.room, self.rows, self.prices, self.lost = room, [], {}, []

    def record(self, stamp, price):
        if stamp in self.prices:
            self.rows.remove(stamp)
        elif len(self.rows) == self.room:
            first = self.rows.pop(0)
            del self.prices[first]
            self.lost.append(first)
        self.rows.append(stamp)
        self.prices[stamp] = price

    def price(self, stamp):
        if stamp not in self.prices:
            return -1
        self.rows.remove(stamp)
        self.rows.append(stamp)
        return self.prices[stamp]

    def forgotten(self):
        lost, self.lost = self.lost, []
        return lost
