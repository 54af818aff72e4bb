class Solution:
    def water(self, walls, drains):
        count = len(walls)
        dry = bytearray(count)
        for drain in drains:
            dry[drain] = 1
        left, level = [], 0
        for place, wall in enumerate(walls):
            level = wall if dry[place] or wall > level else level
            left.append(level)
        total = level = 0
        for place in range(count - 1, -1, -1):
            wall = walls[place]
            level = wall if dry[place] or wall > level else level
            total += min(left[place], level) - wall
        return total
