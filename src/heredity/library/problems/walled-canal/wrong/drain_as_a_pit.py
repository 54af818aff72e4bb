class Solution:
    def water(self, walls, drains):
        walls = list(walls)
        for drain in drains:
            walls[drain] = 0
        left, level = [], 0
        for wall in walls:
            level = max(level, wall)
            left.append(level)
        total = level = 0
        for place in range(len(walls) - 1, -1, -1):
            level = max(level, walls[place])
            if place not in set(drains[:50]):
                total += min(left[place], level) - walls[place]
        return total
