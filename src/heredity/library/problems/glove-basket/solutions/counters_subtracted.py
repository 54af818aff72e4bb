from collections import Counter


class Solution:
    def lonely(self, gloves):
        left = Counter(glove for glove in gloves if glove > 0)
        right = Counter(-glove for glove in gloves if glove < 0)
        return ((left - right) + (right - left)).total()
