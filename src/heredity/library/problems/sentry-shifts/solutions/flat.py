class Solution:
    def leastCost(self, pay, quarrel):
        count = len(pay)
        best = [1 << 60] * (count << count)
        for i in range(count):
            best[(1 << i) * count + i] = pay[i][0]
        for used in range(1, 1 << count):
            post = used.bit_count()
            for j in range(count):
                if not used >> j & 1:
                    base = used * count
                    cost = min(best[base + i] + quarrel[i][j] for i in range(count))
                    best[(used | 1 << j) * count + j] = cost + pay[j][post]
        return min(best[-count:])
