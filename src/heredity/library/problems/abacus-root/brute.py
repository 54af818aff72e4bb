class Solution:
    def abacusRoot(self, digits, base):
        while len(digits) > 1:
            total, digits = sum(digits), []
            while total:
                digits.append(total % base)
                total //= base
            digits = digits or [0]
        return digits[0]
