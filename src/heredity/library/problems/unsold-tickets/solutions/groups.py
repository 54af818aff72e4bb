from itertools import groupby


class Solution:
    def leftover(self, sold, place):
        for number, _ in groupby(sorted(sold)):
            if number > place:
                return place
            place += 1
        return place
