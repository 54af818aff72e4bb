class Solution:
    def repaint(self, sign):
        low, high, total = 0, len(sign) - 1, 0
        while low < high:
            apart = abs(ord(sign[low]) - ord(sign[high]))
            total += min(apart, 26 - apart)
            low += 1
            high -= 1
        return total
