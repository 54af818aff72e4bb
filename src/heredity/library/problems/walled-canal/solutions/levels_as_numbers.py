class Solution:
    def water(self, walls, drains):
        # A drain starts a new base: levels of later pieces lie above all of earlier ones.
        top = max(walls) + 1
        dry = set(drains)
        base, level, left = 0, 0, []
        for place, wall in enumerate(walls):
            if place in dry:
                base += top
            level = max(level, base + wall)
            left.append(level - base)
        base, level, total = 0, 0, 0
        for place in range(len(walls) - 1, -1, -1):
            if place in dry:
                base += top
            level = max(level, base + walls[place])
            total += min(left[place], level - base) - walls[place]
        return total
