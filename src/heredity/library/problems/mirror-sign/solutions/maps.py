from operator import sub


class Solution:
    def repaint(self, sign):
        half = len(sign) // 2
        front, back = sign.encode()[:half], sign.encode()[::-1][:half]
        near = [min(apart, 26 - apart) for apart in range(26)]
        return sum(map(near.__getitem__, map(abs, map(sub, front, back))))
