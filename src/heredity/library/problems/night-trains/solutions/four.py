class Queue:
    """A heap with four children a node, by hand."""

    def __init__(self):
        self.row = []

    def __len__(self):
        return len(self.row)

    def push(self, key, node):
        row, at, item = self.row, len(self.row), (key, node)
        row.append(item)
        while at and row[(at - 1) >> 2] > item:
            row[at] = row[(at - 1) >> 2]
            at = (at - 1) >> 2
        row[at] = item

    def pop(self):
        row = self.row
        top, last, at = row[0], row.pop(), 0
        while 4 * at + 1 < len(row):
            child = min(range(4 * at + 1, min(4 * at + 5, len(row))), key=row.__getitem__)
            if row[child] >= last:
                break
            row[at], at = row[child], child
        if row:
            row[at] = last
        return top


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
