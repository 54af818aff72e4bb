class Queue:
    """A heap with four children a node, by hand."""

    def __init__(self):
        self.row = []

    def __len__(self):
        return len(self.row)

    def push(self, key, node):
        row, at, item = self.row, len(self.row), (key, node)
        row.append(item)
        while at and row[(at - 1) >> 2] > item:
            row[at] = row[(at - 1) >> 2]
            at = (at - 1) >> 2
        row[at] = item

    def pop(self):
        row = self.row
        top, last, at = row[0], row.pop(), 0
        while 4 * at + 1 < len(row):
            child = min(range(4 * at + 1, min(4 * at + 5, len(row))), key=row.__getitem__)
            if row[child] >= last:
                break
            row[at], at = row[child], child
        if row:
            row[at] = last
        return top


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
