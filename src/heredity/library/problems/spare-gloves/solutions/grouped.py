from itertools import groupby


class Solution:
    def spareGloves(self, tags):
        return [tag for tag, group in groupby(sorted(tags)) if len(list(group)) % 2]
