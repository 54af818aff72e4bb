class Solution:
    def rings(self, follows, beads):
        return sum(pow(int(row[i]) * sum(map(int, row)), beads, 10**9 + 7) for i, row in enumerate(follows)) % (
            10**9 + 7
        )
