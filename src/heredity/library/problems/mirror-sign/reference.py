class Solution:
    def repaint(self, sign):
        codes = sign.encode()
        half = len(codes) // 2
        total = 0
        for one, other in zip(codes[:half], reversed(codes)):
            apart = abs(one - other)
            total += apart if apart < 14 else 26 - apart
        return total
