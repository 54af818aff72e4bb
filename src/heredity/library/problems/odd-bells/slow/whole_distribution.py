class Solution:
    def oddChance(self, chances):
        counts = [1.0]
        for chance in chances:
            longer = [0.0] * (len(counts) + 1)
            for rung, weight in enumerate(counts):
                longer[rung] += weight * (1 - chance)
                longer[rung + 1] += weight * chance
            counts = longer
        return sum(counts[1::2])
