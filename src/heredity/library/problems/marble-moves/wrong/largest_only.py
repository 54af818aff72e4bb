class Solution:
    def winningHeaps(self, most, handfuls):
        return sum(heap % (max(handfuls) + min(handfuls)) >= min(handfuls) for heap in range(1, most + 1))
