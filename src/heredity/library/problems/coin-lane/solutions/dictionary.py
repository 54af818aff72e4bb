class Solution:
    def bestLead(self, coins):
        known = {}

        def lead(start, end, mine, yours):
            if start == end:
                return 0
            key = (start, end, mine, yours)
            if key not in known:
                options = []
                for size in (1, 2) if mine and end - start > 1 else (1,):
                    left = mine and size == 1
                    options.append(sum(coins[start : start + size]) - lead(start + size, end, yours, left))
                    options.append(sum(coins[end - size : end]) - lead(start, end - size, yours, left))
                known[key] = max(options)
            return known[key]

        return lead(0, len(coins), True, True)
