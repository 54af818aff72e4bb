class Solution:
    def water(self, walls, drains):
        dry = [False] * len(walls)
        for drain in drains:
            dry[drain] = True
        left = list(walls)
        right = list(walls)
        for place in range(1, len(walls)):
            if not dry[place]:
                left[place] = max(left[place - 1], walls[place])
        for place in range(len(walls) - 2, -1, -1):
            if not dry[place]:
                right[place] = max(right[place + 1], walls[place])
        return sum(min(a, b) - wall for a, b, wall in zip(left, right, walls))
