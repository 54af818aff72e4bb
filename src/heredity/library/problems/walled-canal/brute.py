class Solution:
    def water(self, walls, drains):
        # The level of a field: over all ways off, the lowest of what is to be flowed over.
        total = 0
        for place in range(len(walls)):
            best = min(max(walls[: place + 1]), max(walls[place:]))
            for drain in drains:
                best = min(best, max(walls[min(place, drain) : max(place, drain) + 1]))
            total += best - walls[place]
        return total
