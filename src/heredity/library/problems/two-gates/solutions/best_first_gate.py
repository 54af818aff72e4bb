class Solution:
    def twoGates(self, tolls, purse):
        # At each second gate the first gate of the fitting toll; the earliest one of all wins.
        first, best = {}, [len(tolls), -1]
        for place, toll in enumerate(tolls):
            one = first.get(purse - toll)
            if one is not None and one < best[0]:
                best = [one, place]
            first.setdefault(toll, place)
        return best if best[1] >= 0 else [-1, -1]
