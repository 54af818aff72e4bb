from collections import Counter


class Solution:
    def abacusRoot(self, digits, base):
        total = sum(digit * count for digit, count in Counter(digits).items())
        while total >= base:
            total = total // base + total % base
        return total
