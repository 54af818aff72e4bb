class Solution:
    def highestMean(self, levels, hours):
        # Sums of 1, 2, 4, 8 … hours; those of the length's binary digits make up a window.
        count = len(levels) - hours + 1
        sums, start, width = [0.0] * count, 0, 1
        table = levels
        while width <= hours:
            if hours & width:
                sums = [a + b for a, b in zip(sums, table[start:])]
                start += width
            table = [a + b for a, b in zip(table, table[width:])]
            width *= 2
        return max(sums) / hours
