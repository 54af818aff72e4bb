class Queue:
    """A radix heap: keys never fall below the last that was taken out."""

    def __init__(self):
        self.last, self.size, self.rows = 0, 0, [[] for _ in range(64)]

    def __len__(self):
        return self.size

    def push(self, key, node):
        self.size += 1
        self.rows[(key ^ self.last).bit_length()].append((key, node))

    def pop(self):
        self.size -= 1
        if not self.rows[0]:
            at = next(i for i, row in enumerate(self.rows) if row)
            row, self.rows[at] = self.rows[at], []
            self.last = min(row)[0]
            for item in row:
                self.rows[(item[0] ^ self.last).bit_length()].append(item)
        return self.rows[0].pop()


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
