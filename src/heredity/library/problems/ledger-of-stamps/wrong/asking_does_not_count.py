class StampLedger:
    def __init__(self, room):
        self.room, self.prices, self.lost = room, {}, []

    def record(self, stamp, price):
        if self.prices.pop(stamp, None) is None and len(self.prices) == self.room:
            first = next(iter(self.prices))
            del self.prices[first]
            self.lost.append(first)
        self.prices[stamp] = price

    def price(self, stamp):
        return self.prices.get(stamp, -1)

    def forgotten(self):
        lost, self.lost = self.lost, []
        return lost
