class Solution:
    def abacusRoot(self, digits, base):
        while len(digits) > 1:
            if len(digits) % 2:
                digits.append(0)
            following = []
            for one, other in zip(digits[::2], digits[1::2]):
                total = one + other
                following.append(total if total < base else total - base + 1)
            digits = following
        return digits[0]
