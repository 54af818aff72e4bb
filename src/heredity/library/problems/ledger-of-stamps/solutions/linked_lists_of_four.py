class StampLedger:
    def __init__(self, room):
        self.room, self.rows, self.lost = room, {}, []
        self.root = root = []
        root[:] = [root, root, None, None]

    def touch(self, row):
        row[0][1], row[1][0] = row[1], row[0]
        last = self.root[0]
        last[1] = self.root[0] = row
        row[0], row[1] = last, self.root

    def record(self, stamp, price):
        if stamp in self.rows:
            row = self.rows[stamp]
            row[3] = price
            self.touch(row)
            return
        if len(self.rows) == self.room:
            # The oldest row is written over.
            row = self.root[1]
            del self.rows[row[2]]
            self.lost.append(row[2])
            row[2:] = stamp, price
            self.touch(row)
        else:
            last = self.root[0]
            row = [last, self.root, stamp, price]
            last[1] = self.root[0] = row
        self.rows[stamp] = row

    def price(self, stamp):
        row = self.rows.get(stamp)
        if row is None:
            return -1
        self.touch(row)
        return row[3]

    def forgotten(self):
        lost, self.lost = self.lost, []
        return lost
