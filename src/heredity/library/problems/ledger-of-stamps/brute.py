class StampLedger:
    def __init__(self, room):
        self.room, self.rows, self.lost = room, [], []

    def record(self, stamp, price):
        rows = [row for row in self.rows if row[0] != stamp]
        if len(rows) == len(self.rows) == self.room:
            self.lost.append(rows.pop(0)[0])
        self.rows = [*rows, (stamp, price)]

    def price(self, stamp):
        for row in self.rows:
            if row[0] == stamp:
                self.rows = [other for other in self.rows if other[0] != stamp] + [row]
                return row[1]
        return -1

    def forgotten(self):
        lost, self.lost = self.lost, []
        return lost
