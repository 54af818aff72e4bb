class Solution:
    def repaint(self, sign):
        ring = "abcdefghijklmnopqrstuvwxyz"
        cost = {}
        for i, one in enumerate(ring):
            for j, other in enumerate(ring):
                cost[one + other] = min((i - j) % 26, (j - i) % 26)
        return sum(cost[sign[i] + sign[-1 - i]] for i in range(len(sign) // 2))
