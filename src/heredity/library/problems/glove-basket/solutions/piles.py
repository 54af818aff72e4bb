class Solution:
    def lonely(self, gloves):
        piles = {}
        for glove in gloves:
            pile = piles.setdefault(abs(glove), [])
            if pile and pile[-1] != glove:
                pile.pop()
            else:
                pile.append(glove)
        return sum(len(pile) for pile in piles.values())
