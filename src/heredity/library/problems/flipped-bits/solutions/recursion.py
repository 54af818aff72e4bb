class Solution:
    def flips(self, spans):
        def flipped(number):
            return number + flipped(number // 2) if number else 0

        return sum(flipped(b) - flipped(a) for a, b in spans)
