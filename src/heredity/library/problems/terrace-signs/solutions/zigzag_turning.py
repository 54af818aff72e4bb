class Solution:
    def gardens(self, signs):
        mod = 10**9 + 7
        # The list is turned over where the direction changes, so that sums always run the same way.
        ways, turned = [1], False
        for sign in signs:
            if sign == "?":
                ways = [sum(ways) % mod] * (len(ways) + 1)
                continue
            if (sign == ">") != turned:
                ways.reverse()
                turned = not turned
            run, new = 0, [0]
            for one in ways:
                run += one
                if run >= mod:
                    run -= mod
                new.append(run)
            ways = new
        return sum(ways) % mod
