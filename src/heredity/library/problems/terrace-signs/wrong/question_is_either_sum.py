class Solution:
    def gardens(self, signs):
        mod = 10**9 + 7
        ways = [1]
        for sign in signs:
            new, low, high = [], 0, sum(ways)
            for rank in range(len(ways) + 1):
                if rank:
                    low, high = low + ways[rank - 1], high - ways[rank - 1]
                new.append((low if sign == "<" else high if sign == ">" else max(low, high)) % mod)
            ways = new
        return sum(ways) % mod
