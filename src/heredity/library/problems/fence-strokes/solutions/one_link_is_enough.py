from functools import cache


class Solution:
    def cheapest(self, colours, prices):
        # May the first board's colour be had already? Then it is free, and the stroke may end here or go on.
        row = tuple(c for i, c in enumerate(colours) if not i or c != colours[i - 1])
        following, last = [0] * len(row), {}
        for place in range(len(row) - 1, -1, -1):
            following[place] = last.get(row[place], len(row))
            last[row[place]] = place

        @cache
        def rest(start, stop):
            """The cost of what comes after the board, whose own stroke is paid for."""
            if start + 1 >= stop:
                return 0
            best = prices[row[start + 1]] + rest(start + 1, stop)
            place = following[start]
            while place < stop:
                between = prices[row[start + 1]] + rest(start + 1, place) if start + 1 < place else 0
                best = min(best, between + rest(place, stop))
                place = following[place]
            return best

        for start in range(len(row) - 1, -1, -1):
            rest(start, len(row))
        return prices[row[0]] + rest(0, len(row))
