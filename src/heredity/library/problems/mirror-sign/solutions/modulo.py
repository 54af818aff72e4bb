class Solution:
    def repaint(self, sign):
        codes = sign.encode()
        return sum(abs((codes[i] - codes[-1 - i] + 13) % 26 - 13) for i in range(len(codes) // 2))
