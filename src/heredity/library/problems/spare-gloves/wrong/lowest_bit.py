class Solution:
    def spareGloves(self, tags):
        groups = [0, 0]
        for tag in tags:
            groups[tag & 1] ^= tag
        return sorted(groups)
