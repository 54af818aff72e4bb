from collections import deque


class StampLedger:
    def __init__(self, room):
        self.room, self.prices, self.uses, self.queue, self.lost = room, {}, {}, deque(), []

    def use(self, stamp):
        self.uses[stamp] = self.uses.get(stamp, 0) + 1
        self.queue.append(stamp)

    def record(self, stamp, price):
        if stamp not in self.prices and len(self.prices) == self.room:
            while True:
                oldest = self.queue.popleft()
                self.uses[oldest] -= 1
                if not self.uses[oldest]:
                    break
            del self.prices[oldest], self.uses[oldest]
            self.lost.append(oldest)
        self.prices[stamp] = price
        self.use(stamp)

    def price(self, stamp):
        if stamp not in self.prices:
            return -1
        self.use(stamp)
        return self.prices[stamp]

    def forgotten(self):
        lost, self.lost = self.lost, []
        return lost
