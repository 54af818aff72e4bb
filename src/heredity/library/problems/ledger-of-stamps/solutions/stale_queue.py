from collections import deque


class StampLedger:
    def __init__(self, room):
        self.room, self.rows, self.queue, self.lost, self.clock = room, {}, deque(), [], 0

    def touch(self, stamp, price):
        self.clock += 1
        self.rows[stamp] = price, self.clock
        self.queue.append((stamp, self.clock))

    def record(self, stamp, price):
        if stamp not in self.rows and len(self.rows) == self.room:
            while True:
                # Entries that are not the stamp's last one are stale.
                oldest, clock = self.queue.popleft()
                if self.rows.get(oldest, (0, 0))[1] == clock:
                    break
            del self.rows[oldest]
            self.lost.append(oldest)
        self.touch(stamp, price)

    def price(self, stamp):
        if stamp not in self.rows:
            return -1
        price = self.rows[stamp][0]
        self.touch(stamp, price)
        return price

    def forgotten(self):
        lost, self.lost = self.lost, []
        return lost
