from functools import reduce


class Solution:
    def abacusRoot(self, digits, base):
        return reduce(lambda root, digit: (root + digit) // base + (root + digit) % base, digits, 0)
