from collections import deque


class Solution:
    def repaint(self, sign):
        left = deque(map(ord, sign))
        total = 0
        while len(left) > 1:
            apart = (left.popleft() - left.pop()) % 26
            total += min(apart, 26 - apart)
        return total
