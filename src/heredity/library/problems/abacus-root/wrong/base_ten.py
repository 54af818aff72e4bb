class Solution:
    def abacusRoot(self, digits, base):
        total = sum(digits)
        return 1 + (total - 1) % 9 if total else 0
