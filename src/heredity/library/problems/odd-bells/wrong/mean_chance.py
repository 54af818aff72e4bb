class Solution:
    def oddChance(self, chances):
        mean = sum(chances) / len(chances)
        return (1 - (1 - 2 * mean) ** len(chances)) / 2
