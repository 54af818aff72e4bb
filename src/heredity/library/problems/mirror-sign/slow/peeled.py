class Solution:
    def repaint(self, sign):
        letters = list(sign)
        total = 0
        while len(letters) > 1:
            apart = abs(ord(letters[0]) - ord(letters[-1]))
            total += min(apart, 26 - apart)
            letters = letters[1:-1]
        return total
