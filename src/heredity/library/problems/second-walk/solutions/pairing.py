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
