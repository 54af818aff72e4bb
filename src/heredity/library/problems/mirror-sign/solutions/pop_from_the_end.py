class Solution:
    def repaint(self, sign):
        front = list(sign)
        back = list(reversed(front))
        total = 0
        for _ in range(len(sign) // 2):
            apart = abs(ord(front.pop()) - ord(back.pop()))
            total += min(apart, 26 - apart)
        return total
