class Solution:
    def water(self, walls, drains):
        cuts = sorted({0, *drains, len(walls) - 1})
        total = 0
        for low, high in zip(cuts, cuts[1:]):
            top = max(range(low, high + 1), key=walls.__getitem__)
            for way in (range(low, top), range(high, top, -1)):
                level = 0
                for place in way:
                    level = max(level, walls[place])
                    total += level - walls[place]
        return total
