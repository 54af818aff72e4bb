from collections import Counter


class Solution:
    def repaint(self, sign):
        half = len(sign) // 2
        pairs = Counter(zip(sign[:half], sign[::-1]))
        total = 0
        for (one, other), times in pairs.items():
            apart = abs(ord(one) - ord(other))
            total += times * min(apart, 26 - apart)
        return total
