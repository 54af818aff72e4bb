from itertools import combinations


class Solution:
    def trios(self, boxes):
        return sum(a & b & c == 0 for a, b, c in combinations(boxes, 3))
