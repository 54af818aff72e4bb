class Solution:
    def gardens(self, signs):
        mod, size = 10**9 + 7, len(signs) + 1
        ways = [0] * size
        ways[0] = 1
        for count, sign in enumerate(signs, 1):
            if sign == "<":
                run = 0
                for rank in range(count + 1):
                    ways[rank], run = run, (run + ways[rank]) % mod
            elif sign == ">":
                run = 0
                for rank in range(count - 1, -1, -1):
                    run += ways[rank]
                    if run >= mod:
                        run -= mod
                    ways[rank] = run
                ways[count] = 0
            else:
                total = sum(ways[:count]) % mod
                for rank in range(count + 1):
                    ways[rank] = total
        return sum(ways) % mod
