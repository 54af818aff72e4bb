class Solution:
    def gardens(self, signs):
        mod = 10**9 + 7
        ways = [1]
        for sign in signs:
            size = len(ways)
            new = [0] * (size + 1)
            if sign != ">":
                run = 0
                for rank in range(size):
                    run = (run + ways[rank]) % mod
                    new[rank + 1] = run
            if sign != "<":
                run = 0
                for rank in range(size - 1, -1, -1):
                    run = (run + ways[rank]) % mod
                    new[rank] = (new[rank] + run) % mod
            ways = new
        return sum(ways) % mod
