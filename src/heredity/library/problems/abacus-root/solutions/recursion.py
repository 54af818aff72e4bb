class Solution:
    def abacusRoot(self, digits, base):
        if len(digits) == 1:
            return digits[0]
        total, following = sum(digits), []
        while total:
            total, digit = divmod(total, base)
            following.append(digit)
        return self.abacusRoot(following or [0], base)
