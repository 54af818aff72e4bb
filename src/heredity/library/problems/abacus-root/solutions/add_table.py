class Solution:
    def abacusRoot(self, digits, base):
        table = [[a + b if a + b < base else a + b - base + 1 for b in range(base)] for a in range(base)]
        root = 0
        for digit in digits:
            root = table[root][digit]
        return root
