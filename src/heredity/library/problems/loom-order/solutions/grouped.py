from collections import Counter


class Solution:
    def leastWaiting(self, cloths, rest):
        groups = Counter(map(tuple, cloths))
        clock = cost = 0
        for hours, impatience in sorted(groups, key=lambda cloth: (cloth[0] + rest) / cloth[1]):
            count = groups[hours, impatience]
            cost += impatience * (count * (clock + hours) + (hours + rest) * count * (count - 1) // 2)
            clock += count * (hours + rest)
        return cost
