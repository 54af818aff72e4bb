class Solution:
    def longestWalk(self, chimneys):
        def ends(low, high):
            if high - low == 1:
                x, y, owner = chimneys[low]
                known = (x + y, x + y, x - y, x - y)
                return (None, known) if owner else (known, None)
            middle = (low + high) // 2
            return tuple(map(joined, ends(low, middle), ends(middle, high)))

        def joined(one, other):
            if one is None or other is None:
                return one or other
            return (min(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2]), max(one[3], other[3]))

        a, b = ends(0, len(chimneys))
        return max(a[1] - b[0], b[1] - a[0], a[3] - b[2], b[3] - a[2])
