from collections import OrderedDict


class StampLedger:
    def __init__(self, room):
        self.room, self.prices, self.lost = room, OrderedDict(), []

    def record(self, stamp, price):
        if stamp not in self.prices and len(self.prices) == self.room:
            self.lost.append(self.prices.popitem(last=False)[0])
        self.prices[stamp] = price
        self.prices.move_to_end(stamp)

    def price(self, stamp):
        if stamp not in self.prices:
            return -1
        self.prices.move_to_end(stamp)
        return self.prices[stamp]

    def forgotten(self):
        lost, self.lost = self.lost, []
        return lost
