from collections import Counter


class Solution:
    def spareGloves(self, tags):
        return sorted(tag for tag, count in Counter(tags).items() if count == 1)
