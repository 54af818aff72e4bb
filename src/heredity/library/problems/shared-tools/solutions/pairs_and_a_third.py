class Solution:
    def trios(self, boxes):
        size = 1 << 15
        count = [0] * size
        for box in boxes:
            count[box] += 1

        def swept(ways, sign):
            step = 1
            while step < size:
                for start in range(0, size, 2 * step):
                    middle, stop = start + step, start + 2 * step
                    ways[start:middle] = [a + sign * b for a, b in zip(ways[start:middle], ways[middle:stop])]
                step *= 2
            return ways

        # Boxes by what is missing from them, so that "has none of the pair's tools" is a superset again.
        missing = swept(count[::-1], 1)
        pairs = swept([c * (c - 1) // 2 for c in swept(count[:], 1)], -1)
        found = sum(a * b for a, b in zip(pairs, missing) if a)
        # A member of a pair that has nothing in common was taken as the third one, too.
        return (found - 2 * pairs[0]) // 3
