class Solution:
    def ropeLength(self, beacons):
        far = max((x - u) ** 2 + (y - v) ** 2 for x, y in beacons for u, v in beacons)
        rope = int(far**0.5) - 1
        while rope < 0 or rope * rope < far:
            rope += 1
        return rope
