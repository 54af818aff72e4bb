class Solution:
    def lonely(self, gloves):
        return abs(sum(1 if glove > 0 else -1 for glove in gloves))
