class Solution:
    def lonely(self, gloves):
        left = {glove for glove in gloves if glove > 0}
        right = {-glove for glove in gloves if glove < 0}
        return len(left ^ right)
