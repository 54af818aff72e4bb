from heapq import heappop, heappush


class Queue(list):
    """Keys and nodes in one integer each."""

    def push(self, key, node):
        heappush(self, key << 20 | node)

    def pop(self):
        code = heappop(self)
        return code >> 20, code & 0xFFFFF


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
