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
