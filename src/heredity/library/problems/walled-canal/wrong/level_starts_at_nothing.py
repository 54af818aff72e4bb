class Solution:
    def water(self, walls, drains):
        count = len(walls)
        dry = set(drains)
        left, level = [], 0
        for place, wall in enumerate(walls):
            level = 0 if place in dry else max(level, wall)
            left.append(level)
        total = level = 0
        for place in range(count - 1, -1, -1):
            level = 0 if place in dry else max(level, walls[place])
            total += max(0, min(left[place], level) - walls[place])
        return total
