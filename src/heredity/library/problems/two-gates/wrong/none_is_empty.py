class Solution:
    def twoGates(self, tolls, purse):
        seen = {}
        best = []
        for second, toll in enumerate(tolls):
            first = seen.get(purse - toll)
            if first is not None and (not best or [first, second] < best):
                best = [first, second]
            seen.setdefault(toll, second)
        return best
