class Solution:
    def pairs(self, signals, limit):
        # Node 1 is the root, 2 i and 2 i + 1 are the children of i.
        size = 1 << 17
        tree = [0] * (2 * size)
        for signal in signals:
            tree[size + signal] += 1
        for node in range(size - 1, 0, -1):
            tree[node] = tree[2 * node] + tree[2 * node + 1]
        total = 0
        for bit in range(17):
            if limit >> bit & 1:
                partner, first, last = limit >> bit ^ 1, size >> bit, (2 * size) >> bit
                row = tree[first:last]
                total += sum(many * row[value ^ partner] for value, many in enumerate(row) if many)
        return (total - (len(signals) if limit else 0)) // 2
