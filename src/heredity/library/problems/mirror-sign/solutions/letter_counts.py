class Solution:
    def repaint(self, sign):
        ring = "abcdefghijklmnopqrstuvwxyz"
        half = len(sign) // 2
        back = sign[::-1]
        seen = [[0] * 26 for _ in ring]
        for i in range(half):
            seen[ord(sign[i]) - 97][ord(back[i]) - 97] += 1
        return sum(min((i - j) % 26, (j - i) % 26) * seen[i][j] for i in range(26) for j in range(26))
