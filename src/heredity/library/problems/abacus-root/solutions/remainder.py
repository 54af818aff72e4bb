class Solution:
    def abacusRoot(self, digits, base):
        value = 0
        for digit in digits:
            value = (value * base + digit) % (base - 1)
        if value == 0 and any(digits):
            return base - 1
        return value
