from bisect import insort


class Queue:
    """A sorted list, the smallest at its end."""

    def __init__(self):
        self.row = []

    def __len__(self):
        return len(self.row)

    def push(self, key, node):
        insort(self.row, (-key, node))

    def pop(self):
        key, node = self.row.pop()
        return -key, node


class Solution:
    def second(self, count, ways):
        near = [[] for _ in range(count)]
        for a, b, cost in ways:
            near[a].append((b, cost))
            near[b].append((a, cost))
        queue, known = Queue(), [[] for _ in range(count)]
        queue.push(0, 0)
        while len(queue):
            cost, a = queue.pop()
            if len(known[a]) == 2 or cost in known[a]:
                continue
            known[a].append(cost)
            if a == count - 1 and len(known[a]) == 2:
                return cost
            for b, more in near[a]:
                if len(known[b]) < 2:
                    queue.push(cost + more, b)
        return -1
