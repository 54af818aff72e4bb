from bisect import bisect_left


class Solution:
    def fewestPiles(self, sizes, gap):
        order = sorted(sizes)
        first = (len(order) + 1) // 2
        pairs = 0
        for size in order[: len(order) // 2]:
            first = bisect_left(order, size + gap, first)
            if first == len(order):
                break
            pairs += 1
            first += 1
        return len(order) - pairs
