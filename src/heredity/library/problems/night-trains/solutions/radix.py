class Queue:
    """A radix heap: keys never fall below the last that was taken out."""

    def __init__(self):
        self.last, self.size, self.rows = 0, 0, [[] for _ in range(64)]

    def __len__(self):
        return self.size

    def push(self, key, node):
        self.size += 1
        self.rows[(key ^ self.last).bit_length()].append((key, node))

    def pop(self):
        self.size -= 1
        if not self.rows[0]:
            at = next(i for i, row in enumerate(self.rows) if row)
            row, self.rows[at] = self.rows[at], []
            self.last = min(row)[0]
            for item in row:
                self.rows[(item[0] ^ self.last).bit_length()].append(item)
        return self.rows[0].pop()


class Solution:
    def arrival(self, stations, lines, start, goal, now):
        leaving = {}
        for a, b, period, minutes in lines:
            leaving.setdefault(a, []).append((b, period, minutes))
        queue, best = Queue(), {start: now}
        queue.push(now, start)
        while len(queue):
            time, a = queue.pop()
            if best[a] < time:
                continue
            for b, period, minutes in leaving.get(a, ()):
                then = (time + period - 1) // period * period + minutes
                if then < best.get(b, 1 << 60):
                    best[b] = then
                    queue.push(then, b)
        return best.get(goal, -1)
