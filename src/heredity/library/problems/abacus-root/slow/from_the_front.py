class Solution:
    def abacusRoot(self, digits, base):
        while len(digits) > 1:
            total, rest = digits[0] + digits[1], digits[2:]
            digits = [total // base, total % base, *rest] if total >= base else [total, *rest]
            sum(digits)
        return digits[0]
