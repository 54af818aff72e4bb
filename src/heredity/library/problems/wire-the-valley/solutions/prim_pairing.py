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
    def price(self, count, wired, offers):
        near, total = [[] for _ in range(count)], 0
        for a, b in wired:
            near[a].append((b, 0))
            near[b].append((a, 0))
        for a, b, price in offers:
            if price < 0:
                total, price = total + price, 0
            near[a].append((b, price))
            near[b].append((a, price))
        queue, inside, left = Queue(), bytearray(count), count
        queue.push(0, 0)
        while len(queue) and left:
            price, a = queue.pop()
            if inside[a]:
                continue
            inside[a], left, total = 1, left - 1, total + price
            for b, more in near[a]:
                if not inside[b]:
                    queue.push(more, b)
        return -1 if left else total
