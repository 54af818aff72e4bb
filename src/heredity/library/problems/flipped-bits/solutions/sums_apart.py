class Solution:
    def flips(self, spans):
        starts, ends = zip(*spans)
        ones = sum(map(int.bit_count, ends)) - sum(map(int.bit_count, starts))
        return 2 * (sum(ends) - sum(starts)) - ones
