class Solution:
    def second(self, count, ways):
        costs = [set() for _ in range(count)]
        costs[0].add(0)
        changed = True
        while changed:
            changed = False
            for a, b, cost in ways:
                for x, y in ((a, b), (b, a)):
                    kept = set(sorted(costs[y] | {c + cost for c in costs[x]})[:2])
                    if kept != costs[y]:
                        costs[y], changed = kept, True
        return max(costs[-1]) if len(costs[-1]) == 2 else -1
