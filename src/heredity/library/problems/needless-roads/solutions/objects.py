class Town:
    def __init__(self):
        self.above, self.size = None, 1

    def root(self):
        town = self
        while town.above:
            if town.above.above:
                town.above = town.above.above
            town = town.above
        return town


class Solution:
    def needless(self, count, roads):
        towns, found = [Town() for _ in range(count)], []
        for number, (a, b) in enumerate(roads):
            one, other = towns[a].root(), towns[b].root()
            if one is other:
                found.append(number)
                continue
            if one.size < other.size:
                one, other = other, one
            other.above = one
            one.size += other.size
        return found
