from random import random


def size(node):
    return node[3] if node else 0


def joined(a, b):
    if not a or not b:
        return a or b
    if a[1] > b[1]:
        a[4] = joined(a[4], b)
    else:
        b[2] = joined(a, b[2])
        a = b
    a[3] = size(a[2]) + 1 + size(a[4])
    return a


def cut(node, weight):
    """Those below the weight and the others."""
    if not node:
        return None, None
    if node[0] < weight:
        node[4], other = cut(node[4], weight)
        out = node, other
    else:
        one, node[2] = cut(node[2], weight)
        out = one, node
    node[3] = size(node[2]) + 1 + size(node[4])
    return out


class WeighingRoom:
    def __init__(self):
        self.history, self.root = [], None

    def add(self, weight):
        self.history.append(weight)
        low, high = cut(self.root, weight)
        self.root = joined(joined(low, [weight, random(), None, 1, None]), high)

    def undo(self, count):
        while count and self.history:
            count -= 1
            weight = self.history.pop()
            low, rest = cut(self.root, weight)
            same, high = cut(rest, weight + 1)
            self.root = joined(joined(low, joined(same[2], same[4])), high)

    def middle(self):
        node, left = self.root, (size(self.root) - 1) // 2
        while node:
            if left < size(node[2]):
                node = node[2]
            elif left == size(node[2]):
                return node[0]
            else:
                left -= size(node[2]) + 1
                node = node[4]
        return 0
