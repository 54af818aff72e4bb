class Solution:
    def repaint(self, sign):
        total = 0
        for one, other in zip(sign, reversed(sign)):
            apart = abs(ord(one) - ord(other))
            total += min(apart, 26 - apart)
        return total
