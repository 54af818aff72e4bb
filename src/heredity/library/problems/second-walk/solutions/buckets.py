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
