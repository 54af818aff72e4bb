from functools import cmp_to_key


class Solution:
    def lineUp(self, names, heights):
        def before(one, other):
            if one[1] != other[1]:
                return other[1] - one[1]
            return -1 if one[0] < other[0] else 1

        row = [name for name, _ in sorted(zip(names, heights), key=cmp_to_key(before))]
        return row[1::2][::-1] + row[::2]
