class Queue:
    """A pairing heap of [key, node, children]."""

    def __init__(self):
        self.root, self.size = None, 0

    def __len__(self):
        return self.size

    def joined(self, a, b):
        if b[0] < a[0]:
            a, b = b, a
        a[2].append(b)
        return a

    def push(self, key, node):
        self.size += 1
        one = [key, node, []]
        self.root = self.joined(self.root, one) if self.root else one

    def pop(self):
        self.size -= 1
        key, node, trees = self.root
        while len(trees) > 1:
            pairs = [self.joined(trees[i], trees[i + 1]) for i in range(0, len(trees) - 1, 2)]
            trees = pairs + trees[2 * len(pairs) :]
        self.root = trees[0] if trees else None
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
