class Solution:
    def missing(self, count, streets):
        reach = [{i} for i in range(count)]
        for _ in range(count):
            for a, b in streets:
                for row in reach:
                    if a in row:
                        row.add(b)
        parts = {frozenset(j for j in range(count) if i in reach[j] and j in reach[i]) for i in range(count)}
        if len(parts) == 1:
            return 0
        first = sum(all(a in part or b not in part for a, b in streets) for part in parts)
        last = sum(all(a not in part or b in part for a, b in streets) for part in parts)
        return max(first, last)
