class Queue:
    """A skew heap of [key, node, left, right]."""

    def __init__(self):
        self.root, self.size = None, 0

    def __len__(self):
        return self.size

    def merged(self, a, b):
        path = []
        while a and b:
            if b[0] < a[0]:
                a, b = b, a
            path.append(a)
            a = a[3]
        a = a or b
        while path:
            top = path.pop()
            top[2], top[3] = a, top[2]
            a = top
        return a

    def push(self, key, node):
        self.size += 1
        self.root = self.merged(self.root, [key, node, None, None])

    def pop(self):
        self.size -= 1
        key, node, left, right = self.root
        self.root = self.merged(left, right)
        return key, node


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
