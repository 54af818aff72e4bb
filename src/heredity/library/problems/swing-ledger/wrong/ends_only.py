class Solution:
    def ledger(self, levels):
        total = 0
        for place, level in enumerate(levels):
            for other in range(max(0, place - 300), place):
                total += abs(level - levels[other]) * (place - other + 1)
        return total
