class StampLedger:
    def __init__(self, room):
        # All uses in a log, where a stamp's last use is, and a finger before which all uses are old.
        self.room, self.log, self.last, self.prices, self.finger, self.lost = room, [], {}, {}, 0, []

    def use(self, stamp):
        self.last[stamp] = len(self.log)
        self.log.append(stamp)

    def record(self, stamp, price):
        if stamp not in self.last and len(self.last) == self.room:
            while self.last.get(self.log[self.finger]) != self.finger:
                self.finger += 1
            oldest = self.log[self.finger]
            self.finger += 1
            del self.last[oldest], self.prices[oldest]
            self.lost.append(oldest)
        self.prices[stamp] = price
        self.use(stamp)

    def price(self, stamp):
        if stamp not in self.last:
            return -1
        self.use(stamp)
        return self.prices[stamp]

    def forgotten(self):
        lost, self.lost = self.lost, []
        return lost
