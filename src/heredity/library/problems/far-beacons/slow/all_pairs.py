from math import isqrt


class Solution:
    def ropeLength(self, beacons):
        far = 0
        for place, (x, y) in enumerate(beacons):
            for u, v in beacons[:place]:
                gap = (x - u) * (x - u) + (y - v) * (y - v)
                if gap > far:
                    far = gap
        return isqrt(far - 1) + 1 if far else 0
