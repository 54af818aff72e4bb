class Solution:
    def abacusRoot(self, digits, base):
        total = sum(digits)
        return total // base + total % base
