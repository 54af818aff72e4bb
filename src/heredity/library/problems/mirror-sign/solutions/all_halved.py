class Solution:
    def repaint(self, sign):
        total = 0
        for one, other in zip(sign, sign[::-1]):
            apart = abs(ord(one) - ord(other))
            total += min(apart, 26 - apart)
        return total // 2
