class Solution:
    def water(self, walls, drains):
        dry = set(drains)
        left, level = [], 0
        for wall in walls:
            level = max(level, wall)
            left.append(level)
        total = level = 0
        for place in range(len(walls) - 1, -1, -1):
            level = max(level, walls[place])
            if place not in dry:
                total += min(left[place], level) - walls[place]
        return total
