from bisect import bisect_left


class Solution:
    def unlit(self, count, tracks, lamps):
        both = sorted([(a, b) for a, b in tracks] + [(b, a) for a, b in tracks])
        begin = [bisect_left(both, (a, -1)) for a in range(count + 1)]
        lit, wave = set(lamps), set(lamps)
        while wave:
            wave = {both[i][1] for a in wave for i in range(begin[a], begin[a + 1])} - lit
            lit |= wave
        return count - len(lit)
