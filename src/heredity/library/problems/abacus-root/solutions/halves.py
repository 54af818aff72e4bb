class Solution:
    def abacusRoot(self, digits, base):
        def root(low, high):
            if high - low == 1:
                return digits[low]
            middle = (low + high) // 2
            total = root(low, middle) + root(middle, high)
            return total - base + 1 if total >= base else total

        return root(0, len(digits))
