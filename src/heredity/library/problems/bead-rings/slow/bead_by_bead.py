class Solution:
    def rings(self, follows, beads):
        mod, size, total = 10**9 + 7, len(follows), 0
        before = [[i for i in range(size) if follows[i][j] == "1"] for j in range(size)]
        for first in range(size):
            ways = [int(i == first) for i in range(size)]
            for _ in range(beads):
                ways = [sum(ways[i] for i in before[j]) % mod for j in range(size)]
            total += ways[first]
        return total % mod
