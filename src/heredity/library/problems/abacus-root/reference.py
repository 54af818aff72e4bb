class Solution:
    def abacusRoot(self, digits, base):
        total = sum(digits)
        return (total - 1) % (base - 1) + 1 if total else 0
