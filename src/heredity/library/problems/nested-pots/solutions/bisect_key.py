from bisect import bisect_left


class Solution:
    def fewestPiles(self, sizes, gap):
        sizes.sort()
        count = len(sizes)

        def fails(pairs):
            return any(inner + gap > outer for inner, outer in zip(sizes[:pairs], sizes[count - pairs :]))

        return count - (bisect_left(range(1, count // 2 + 1), True, key=fails))
