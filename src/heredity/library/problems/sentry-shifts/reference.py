class Solution:
    def leastCost(self, pay, quarrel):
        count = len(pay)
        best = [[1 << 60] * count for _ in range(1 << count)]
        for sentry in range(count):
            best[1 << sentry][sentry] = pay[sentry][0]
        for used in range(1, 1 << count):
            post = used.bit_count()
            free = [(j, best[used | 1 << j], pay[j][post]) for j in range(count) if not used >> j & 1]
            for last, cost in enumerate(best[used]):
                if cost < 1 << 60:
                    peace = quarrel[last]
                    for j, row, wage in free:
                        total = cost + wage + peace[j]
                        if total < row[j]:
                            row[j] = total
        return min(best[-1])
