class Solution:
    def abacusRoot(self, digits, base):
        total = sum(digit * digits.count(digit) for digit in range(1, base))
        return total and 1 + (total - 1) % (base - 1)
