from heapq import heappop, heappush


class Queue:
    """A list of nodes for each key, and a heap of the keys."""

    def __init__(self):
        self.keys, self.nodes = [], {}

    def __len__(self):
        return len(self.keys)

    def push(self, key, node):
        if key not in self.nodes:
            self.nodes[key] = []
            heappush(self.keys, key)
        self.nodes[key].append(node)

    def pop(self):
        key = self.keys[0]
        node = self.nodes[key].pop()
        if not self.nodes[key]:
            del self.nodes[key]
            heappop(self.keys)
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
