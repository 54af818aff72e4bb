class Solution:
    def water(self, walls, drains):
        dry, count, total = set(drains), len(walls), 0
        for place, wall in enumerate(walls):
            ways = []
            for way in (range(place, -1, -1), range(place, count)):
                level = wall
                for other in way:
                    if walls[other] > level:
                        level = walls[other]
                    if other in dry:
                        break
                ways.append(level)
            total += min(ways) - wall
        return total
