class Solution:
    def trios(self, boxes):
        counts = [0] * (1 << 15)
        for box in boxes:
            counts[box] += 1

        def signed(counts):
            """The sum over the sets of tools left, the sign by their number."""
            if len(counts) == 1:
                c = counts[0]
                return c * (c - 1) * (c - 2)
            half = len(counts) // 2
            within = counts[half:]
            if not any(within):
                return signed(counts[:half])
            return signed([a + b for a, b in zip(counts, within)]) - signed(within)

        return signed(counts) // 6
