class Solution:
    def abacusRoot(self, digits, base):
        total = 0
        for start in range(0, len(digits), 64):
            block = 0
            for digit in digits[start : start + 64]:
                block = block * base + digit
            total += block
        return (total - 1) % (base - 1) + 1 if total else 0
