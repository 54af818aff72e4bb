class Queue:
    """A binary heap by hand."""

    def __init__(self):
        self.row = []

    def __len__(self):
        return len(self.row)

    def push(self, key, node):
        row, at = self.row, len(self.row)
        row.append(None)
        while at and row[(at - 1) // 2][0] > key:
            row[at] = row[(at - 1) // 2]
            at = (at - 1) // 2
        row[at] = (key, node)

    def pop(self):
        row = self.row
        top, last, at = row[0], row.pop(), 0
        while (child := 2 * at + 1) < len(row):
            if child + 1 < len(row) and row[child + 1][0] < row[child][0]:
                child += 1
            if row[child][0] >= last[0]:
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
