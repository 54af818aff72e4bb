from heapq import heappop, heappush


class StampLedger:
    def __init__(self, room):
        self.room, self.prices, self.times, self.heap, self.lost, self.now = room, {}, {}, [], [], 0

    def used(self, stamp):
        self.now += 1
        self.times[stamp] = self.now
        heappush(self.heap, (self.now, stamp))

    def record(self, stamp, price):
        if stamp not in self.prices and len(self.prices) >= self.room:
            time, oldest = heappop(self.heap)
            while self.times.get(oldest) != time:
                time, oldest = heappop(self.heap)
            del self.prices[oldest], self.times[oldest]
            self.lost.append(oldest)
        self.prices[stamp] = price
        self.used(stamp)

    def price(self, stamp):
        if stamp in self.prices:
            self.used(stamp)
        return self.prices.get(stamp, -1)

    def forgotten(self):
        lost = self.lost
        self.lost = []
        return lost
