from bisect import bisect_left, bisect_right


class Solution:
    def ledger(self, levels):
        def nearest(values, cut):
            falling, places, found = [], [-1], []
            for place, value in enumerate(values):
                at = cut(falling, -value)
                found.append(place - places[at])
                del falling[at:], places[at + 1 :]
                falling.append(-value)
                places.append(place)
            return found

        total = 0
        for values in (levels, [-level for level in levels]):
            left = nearest(values, bisect_left)
            right = nearest(values[::-1], bisect_right)[::-1]
            total += sum(value * (a * b * (a + b) // 2) for value, a, b in zip(values, left, right))
        return total
