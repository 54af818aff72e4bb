class StampLedger:
    def __init__(self, room):
        self.room, self.rows, self.log, self.lost, self.number = room, {}, [], [], 0
        self.head = 0

    def write(self, stamp, price):
        self.number += 1
        self.rows[stamp] = [price, self.number]
        self.log.append((self.number, stamp))
        if len(self.log) > 4 * self.room + 100:
            self.log = [one for one in self.log[self.head :] if self.rows.get(one[1], (0, 0))[1] == one[0]]
            self.head = 0

    def record(self, stamp, price):
        if stamp not in self.rows and len(self.rows) == self.room:
            number, oldest = self.log[self.head]
            while oldest not in self.rows or self.rows[oldest][1] != number:
                self.head += 1
                number, oldest = self.log[self.head]
            self.head += 1
            self.lost.append(oldest)
            self.rows.pop(oldest)
        self.write(stamp, price)

    def price(self, stamp):
        if stamp not in self.rows:
            return -1
        price = self.rows[stamp][0]
        self.write(stamp, price)
        return price

    def forgotten(self):
        lost, self.lost = self.lost, []
        return lost
