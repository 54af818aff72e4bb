from bisect import bisect_left


class Solution:
    def crossings(self, pegs, reach):
        levels = sorted(set(pegs))
        rank = {peg: place for place, peg in enumerate(levels)}
        size = 1 << len(levels).bit_length()
        counts, total = [0] * (2 * size), 0
        for peg in pegs:
            low = size + bisect_left(levels, peg + reach)
            # Everything from low to the right end.
            while low > 1:
                if low & 1:
                    total += counts[low]
                    low += 1
                    if low & (low - 1) == 0:
                        break
                low //= 2
            node = size + rank[peg]
            while node:
                counts[node] += 1
                node //= 2
        return total
