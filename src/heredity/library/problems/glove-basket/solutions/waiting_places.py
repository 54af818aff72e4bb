class Solution:
    def lonely(self, gloves):
        waiting = {}
        alone = 0
        for glove in gloves:
            if waiting.get(-glove, 0):
                waiting[-glove] -= 1
                alone -= 1
            else:
                waiting[glove] = waiting.get(glove, 0) + 1
                alone += 1
        return alone
