from itertools import accumulate, groupby


class Solution:
    def gardens(self, signs):
        mod, ways = 10**9 + 7, [1]
        for sign, run in groupby(signs):
            length = len(list(run))
            if sign == "?":
                total = sum(ways)
                for _ in range(length - 1):
                    total = total * (len(ways) + 1) % mod
                    ways = ways + [0]
                ways = [total % mod] * (len(ways) + 1)
                continue
            if sign == ">":
                ways = ways[::-1]
            for _ in range(length):
                ways = list(accumulate(ways, lambda a, b: (a + b) % mod, initial=0))
            if sign == ">":
                ways = ways[::-1]
        return sum(ways) % mod
