class Solution:
    def winningHeaps(self, most, handfuls):
        losing = {0}
        for heap in range(1, most + 1):
            if losing.isdisjoint([heap - handful for handful in handfuls]):
                losing.add(heap)
        return most + 1 - len(losing)
