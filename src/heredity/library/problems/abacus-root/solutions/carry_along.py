class Solution:
    def abacusRoot(self, digits, base):
        root = 0
        for digit in digits:
            root += digit
            if root >= base:
                root -= base - 1
        return root
