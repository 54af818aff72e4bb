class Solution:
    def flips(self, spans):
        def ones(x):
            x -= x >> 1 & 0x5555555555555555
            x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333)
            x = x + (x >> 4) & 0x0F0F0F0F0F0F0F0F
            return (x * 0x0101010101010101 & 0xFFFFFFFFFFFFFFFF) >> 56

        return sum(2 * (b - a) - ones(b) + ones(a) for a, b in spans)
