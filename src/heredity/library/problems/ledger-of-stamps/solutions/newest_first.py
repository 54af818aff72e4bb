from collections import OrderedDict


class StampLedger:
    def __init__(self, room):
        self.room, self.rows, self.lost, self.told = room, OrderedDict(), [], 0

    def record(self, stamp, price):
        if stamp in self.rows:
            self.rows[stamp] = price
        else:
            if len(self.rows) == self.room:
                self.lost.append(self.rows.popitem()[0])
            self.rows[stamp] = price
        self.rows.move_to_end(stamp, last=False)

    def price(self, stamp):
        try:
            self.rows.move_to_end(stamp, last=False)
        except KeyError:
            return -1
        return self.rows[stamp]

    def forgotten(self):
        # Everything ever forgotten is kept; only what is new is told.
        new = self.lost[self.told :]
        self.told = len(self.lost)
        return new
