class Solution:
    def abacusRoot(self, digits, base):
        def digits_of(number):
            while number:
                yield number % base
                number //= base

        total = sum(digits)
        while total >= base:
            total = sum(digits_of(total))
        return total
