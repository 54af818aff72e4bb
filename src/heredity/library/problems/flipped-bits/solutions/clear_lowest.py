class Solution:
    def flips(self, spans):
        def flipped(number):
            total = 2 * number
            while number:
                number &= number - 1
                total -= 1
            return total

        return sum(flipped(b) - flipped(a) for a, b in spans)
