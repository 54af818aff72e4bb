class Solution:
    def pairs(self, signals, limit):
        total = 0
        for i, one in enumerate(signals):
            for other in signals[:i]:
                if one ^ other < limit:
                    total += 1
        return total
