class Solution:
    def pairs(self, signals, limit):
        return sum(a ^ b < limit for i, a in enumerate(signals) for b in signals[:i])
