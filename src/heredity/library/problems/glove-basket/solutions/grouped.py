from itertools import groupby


class Solution:
    def lonely(self, gloves):
        alone = 0
        for _, same in groupby(sorted(gloves, key=abs), key=abs):
            alone += abs(sum(1 if glove > 0 else -1 for glove in same))
        return alone
