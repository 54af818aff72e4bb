class Solution:
    def oddChance(self, chances):
        even_less_odd = 1.0
        for start in range(0, len(chances), 50):
            counts = [1.0]
            for chance in chances[start : start + 50]:
                ring = [weight * chance for weight in counts] + [0.0]
                counts = [a + b * (1 - chance) for a, b in zip([0.0, *ring], [*counts, 0.0])]
            even_less_odd *= 1 - 2 * sum(counts[1::2])
        return (1 - even_less_odd) / 2
