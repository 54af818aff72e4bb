class Row:
    def __init__(self, stamp="", price=-1):
        self.stamp, self.price, self.before, self.after = stamp, price, self, self


class StampLedger:
    def __init__(self, room):
        self.room, self.rows, self.ring, self.lost = room, {}, Row(), []

    def out(self, row):
        row.before.after, row.after.before = row.after, row.before

    def last(self, row):
        row.before, row.after = self.ring.before, self.ring
        row.before.after = row.after.before = row

    def record(self, stamp, price):
        row = self.rows.get(stamp)
        if row:
            self.out(row)
        else:
            if len(self.rows) == self.room:
                oldest = self.ring.after
                self.out(oldest)
                del self.rows[oldest.stamp]
                self.lost.append(oldest.stamp)
            row = self.rows[stamp] = Row(stamp)
        row.price = price
        self.last(row)

    def price(self, stamp):
        row = self.rows.get(stamp)
        if not row:
            return -1
        self.out(row)
        self.last(row)
        return row.price

    def forgotten(self):
        lost, self.lost = self.lost, []
        return lost
