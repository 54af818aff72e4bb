class Solution:
    def flips(self, spans):
        return sum(2 * b - b.bit_count() - 2 * a + a.bit_count() for a, b in spans)
