class Solution:
    def repaint(self, sign):
        total = 0
        for i in range(len(sign) // 2):
            one, other = ord(sign[i]) - 97, ord(sign[-1 - i]) - 97
            up = down = one
            while up != other and down != other:
                up = (up + 1) % 26
                down = (down - 1) % 26
                total += 1
        return total
