class Solution:
    def abacusRoot(self, digits, base):
        number = 0
        for digit in digits:
            number = number * base + digit
        while number >= base:
            total = 0
            while number:
                number, digit = divmod(number, base)
                total += digit
            number = total
        return number
