from itertools import accumulate


class Solution:
    def gardens(self, signs):
        mod = 10**9 + 7
        # ways[r]: rows so far whose last terrace is the (r + 1)-th lowest of them.
        ways = [1]
        for sign in signs:
            sums = list(accumulate(ways, initial=0))
            if sign == "<":
                ways = [one % mod for one in sums]
            elif sign == ">":
                ways = [(sums[-1] - one) % mod for one in sums]
            else:
                ways = [sums[-1] % mod] * len(sums)
        return sum(ways) % mod
