class Solution:
    def repaint(self, sign):
        half = len(sign) // 2
        return sum(one != other for one, other in zip(sign[:half], sign[::-1]))
