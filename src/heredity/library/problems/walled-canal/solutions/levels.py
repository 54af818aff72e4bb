class Solution:
    def water(self, walls, drains):
        dry = set(drains)

        def levels(order):
            level, found = 0, []
            for place in order:
                level = walls[place] if place in dry else max(level, walls[place])
                found.append(level)
            return found

        places = range(len(walls))
        left, right = levels(places), levels(reversed(places))[::-1]
        return sum(map(min, left, right)) - sum(walls)
