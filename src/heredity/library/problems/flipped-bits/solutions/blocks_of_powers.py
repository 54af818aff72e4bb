class Solution:
    def flips(self, spans):
        def flipped(number):
            total = 0
            for digit in range(number.bit_length()):
                if number >> digit & 1:
                    total += 2 * (1 << digit) - 1
            return total

        return sum(flipped(b) for _, b in spans) - sum(flipped(a) for a, _ in spans)
