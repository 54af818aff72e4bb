from itertools import product


class Solution:
    def selections(self, sacks, low, high):
        return sum(
            low <= sum(s for s, taken in zip(sacks, chosen) if taken) <= high
            for chosen in product((0, 1), repeat=len(sacks))
        )
