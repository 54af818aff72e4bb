class Solution:
    def abacusRoot(self, digits, base):
        return sum(digits) % (base - 1)
