from itertools import accumulate


class Solution:
    def abacusRoot(self, digits, base):
        *_, total = accumulate(digits)
        roots = [0, *range(1, base)]
        return roots[total] if total < base else roots[(total - base) % (base - 1) + 1]
