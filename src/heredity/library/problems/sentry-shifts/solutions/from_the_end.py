class Solution:
    def leastCost(self, pay, quarrel):
        count = len(pay)
        least = [[0] * count for _ in range(1 << count)]
        for used in range((1 << count) - 2, 0, -1):
            post = used.bit_count()
            free = [i for i in range(count) if not used >> i & 1]
            ahead = [(i, pay[i][post] + least[used | 1 << i][i]) for i in free]
            for last in range(count):
                if used >> last & 1:
                    peace = quarrel[last]
                    least[used][last] = min(rest + peace[i] for i, rest in ahead)
        return min(pay[i][0] + least[1 << i][i] for i in range(count))
