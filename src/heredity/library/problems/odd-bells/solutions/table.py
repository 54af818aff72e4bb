class Solution:
    def oddChance(self, chances):
        odd = [0.0] * (len(chances) + 1)
        for place, chance in enumerate(chances):
            odd[place + 1] = odd[place] * (1 - chance) + (1 - odd[place]) * chance
        return odd[-1]
