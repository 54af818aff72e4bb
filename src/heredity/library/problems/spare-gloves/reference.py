class Solution:
    def spareGloves(self, tags):
        both = 0
        for tag in tags:
            both ^= tag
        bit = both & -both
        one = 0
        for tag in tags:
            if tag & bit:
                one ^= tag
        return sorted([one, one ^ both])
