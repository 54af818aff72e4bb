from bisect import bisect_left, bisect_right


class Solution:
    def pairs(self, jars, low, high):
        kinds = sorted(set(jars))
        tree = [0] * (len(kinds) + 1)
        total = 0
        for jar in jars:
            for limit, sign in ((bisect_right(kinds, high - jar), 1), (bisect_left(kinds, low - jar), -1)):
                while limit:
                    total += sign * tree[limit]
                    limit &= limit - 1
            place = bisect_left(kinds, jar) + 1
            while place < len(tree):
                tree[place] += 1
                place += place & -place
        return total
