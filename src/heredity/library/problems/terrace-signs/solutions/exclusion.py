class Solution:
    def gardens(self, signs):
        mod, size = 10**9 + 7, len(signs) + 1
        factorial = [1]
        for one in range(1, size + 1):
            factorial.append(factorial[-1] * one % mod)
        inverse = [pow(one, -1, mod) for one in factorial]
        # A `>` is anything less a `<`: rows are made of rising pieces, cut at `?` and at some of the `>`.
        ways = [1] + [0] * size
        for stop in range(1, size + 1):
            sign, total = 1, 0
            for start in range(stop - 1, -1, -1):
                if start == 0 or signs[start - 1] != "<":
                    total += sign * ways[start] * inverse[stop - start]
                if start:
                    if signs[start - 1] == "?":
                        break
                    if signs[start - 1] == ">":
                        sign = -sign
            ways[stop] = total % mod
        return ways[size] * factorial[size] % mod
