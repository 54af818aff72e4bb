from collections import OrderedDict


class StampLedger(OrderedDict):
    def __init__(self, room):
        super().__init__()
        self.room, self.lost = room, []

    def record(self, stamp, price):
        self.pop(stamp, None)
        if len(self) == self.room:
            self.lost.append(self.popitem(last=False)[0])
        self[stamp] = price

    def price(self, stamp):
        if stamp not in self:
            return -1
        self.move_to_end(stamp)
        return self[stamp]

    def forgotten(self):
        lost = list(self.lost)
        self.lost.clear()
        return lost
