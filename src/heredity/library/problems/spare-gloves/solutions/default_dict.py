from collections import defaultdict


class Solution:
    def spareGloves(self, tags):
        places = defaultdict(list)
        for place, tag in enumerate(tags):
            places[tag].append(place)
        return sorted(tag for tag, where in places.items() if len(where) & 1)
