from collections import defaultdict


class Solution:
    def lonely(self, gloves):
        left = defaultdict(int)
        for glove in gloves:
            if glove > 0:
                left[glove] += 1
            else:
                left[-glove] -= 1
        return sum(map(abs, left.values()))
