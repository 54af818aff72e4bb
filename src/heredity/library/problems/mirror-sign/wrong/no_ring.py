class Solution:
    def repaint(self, sign):
        half = len(sign) // 2
        return sum(abs(ord(one) - ord(other)) for one, other in zip(sign[:half], sign[::-1]))
