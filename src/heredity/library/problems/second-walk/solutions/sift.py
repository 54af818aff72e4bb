class Queue:
    """A binary heap by hand."""

    def __init__(self):
        self.row = []

    def __len__(self):
        return len(self.row)

    def push(self, key, node):
        row, at = self.row, len(self.row)
        row.append(None)
        while at and row[(at - 1) // 2][0] > key:
            row[at] = row[(at - 1) // 2]
            at = (at - 1) // 2
        row[at] = (key, node)

    def pop(self):
        row = self.row
        top, last, at = row[0], row.pop(), 0
        while (child := 2 * at + 1) < len(row):
            if child + 1 < len(row) and row[child + 1][0] < row[child][0]:
                child += 1
            if row[child][0] >= last[0]:
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
