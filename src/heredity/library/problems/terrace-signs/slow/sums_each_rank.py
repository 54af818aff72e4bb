class Solution:
    def gardens(self, signs):
        mod = 10**9 + 7
        ways = [1]
        for sign in signs:
            new = []
            for rank in range(len(ways) + 1):
                total = 0
                for before, one in enumerate(ways):
                    if sign == "?" or (before < rank) == (sign == "<"):
                        total = (total + one) % mod
                new.append(total)
            ways = new
        return sum(ways) % mod
