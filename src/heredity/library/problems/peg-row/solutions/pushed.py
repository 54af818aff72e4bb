class Solution:
    def winningKnocks(self, rows):
        high = max(rows)
        reached = [set() for _ in range(high + 4)]
        values = []
        for length in range(high + 1):
            value = 0
            while value in reached[length]:
                value += 1
            values.append(value)
            for other, known in enumerate(values):
                for size in (2, 3):
                    if length + other + size <= high:
                        reached[length + other + size].add(value ^ known)
        whole = 0
        for row in rows:
            whole ^= values[row]
        counts = {}
        for row in rows:
            counts[row] = counts.get(row, 0) + 1
        found = 0
        for row, count in counts.items():
            goal = whole ^ values[row]
            if whole and goal in reached[row]:
                found += count * sum(
                    values[a] ^ values[row - size - a] == goal for size in (2, 3) for a in range(row - size + 1)
                )
        return found
