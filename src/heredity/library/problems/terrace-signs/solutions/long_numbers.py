from itertools import accumulate


class Solution:
    def gardens(self, signs):
        # Exact numbers all the way; only the answer is reduced.
        ways = [1]
        for sign in signs:
            if sign == "<":
                ways = list(accumulate(ways, initial=0))
            elif sign == ">":
                ways = list(accumulate(reversed(ways), initial=0))[::-1]
            else:
                ways = [sum(ways)] * (len(ways) + 1)
        return sum(ways) % (10**9 + 7)
