from collections import Counter


class Solution:
    def payable(self, tolls, coin, least):
        rests = [0]
        for toll in tolls:
            rests.append((rests[-1] + toll) % coin)

        def count(low, high):
            # Pairs of places among low to high - 1 that are least apart.
            if high - low <= least:
                return 0
            middle = (low + high) // 2
            total = count(low, middle) + count(middle, high)
            seen, place = Counter(), low
            for stop in range(max(middle, low + least), high):
                while place < middle and place + least <= stop:
                    seen[rests[place]] += 1
                    place += 1
                total += seen[rests[stop]]
            return total

        return count(0, len(rests))
