class Solution:
    def trios(self, boxes):
        size = 1 << 15
        ways = [0] * size
        for box in boxes:
            ways[box] += 1

        def swept(ways, sign):
            step = 1
            while step < size:
                for start in range(0, size, 2 * step):
                    low, high = ways[start : start + step], ways[start + step : start + 2 * step]
                    ways[start : start + step] = [a + sign * b for a, b in zip(low, high)]
                step *= 2
            return ways

        # Trios that have at least these tools in common, then exactly these.
        ways = [c * (c - 1) * (c - 2) // 6 for c in swept(ways, 1)]
        return swept(ways, -1)[0]
