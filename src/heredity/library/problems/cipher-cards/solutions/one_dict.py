class Solution:
    def firstClash(self, plain, coded):
        seen = {}
        for card, pair in enumerate(zip(plain, coded)):
            for side in (0, 1):
                if seen.setdefault((side, pair[side]), pair[1 - side]) != pair[1 - side]:
                    return card
        return -1
