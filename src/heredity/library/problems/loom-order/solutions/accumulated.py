from itertools import accumulate


class Solution:
    def leastWaiting(self, cloths, rest):
        order = sorted(cloths, key=lambda cloth: (cloth[0] + rest) / cloth[1])
        ends = accumulate(hours + rest for hours, _ in order)
        return sum((end - rest) * impatience for end, (_, impatience) in zip(ends, order))
