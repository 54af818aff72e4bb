class Solution:
    def takings(self, places, stalls):
        none = -(10**15)

        def joined(a, b):
            """The best sums for each number: both lists rise by less and less."""
            out = [a[0] + b[0]]
            i = j = 0
            while i + 1 < len(a) or j + 1 < len(b):
                if j + 1 == len(b) or i + 1 < len(a) and a[i + 1] - a[i] >= b[j + 1] - b[j]:
                    i += 1
                else:
                    j += 1
                out.append(a[i] + b[j])
            return out

        def better(a, b):
            if len(a) < len(b):
                a, b = b, a
            return [*map(max, a, b), *a[len(b) :]]

        def solve(low, high):
            """By whether the first and the last place are free for certain: 00, 01, 10, 11."""
            if high - low == 1:
                return [0], [0], [0], [0, places[low]]
            middle = (low + high) // 2
            left, right = solve(low, middle), solve(middle, high)
            out = []
            for first in (0, 2):
                for last in (0, 1):
                    out.append(better(joined(left[first], right[1 * last + 2]), joined(left[first + 1], right[last])))
            return out

        found = solve(0, len(places))[3]
        return found[stalls] if stalls < len(found) else none
