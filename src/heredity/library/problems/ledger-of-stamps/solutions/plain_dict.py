class StampLedger:
    def __init__(self, room):
        self.room, self.prices, self.lost = room, {}, []

    def record(self, stamp, price):
        if self.prices.pop(stamp, None) is None and len(self.prices) == self.room:
            oldest = next(iter(self.prices))
            del self.prices[oldest]
            self.lost.append(oldest)
        self.prices[stamp] = price

    def price(self, stamp):
        price = self.prices.pop(stamp, -1)
        if price >= 0:
            self.prices[stamp] = price
        return price

    def forgotten(self):
        lost, self.lost = self.lost, []
        return lost
