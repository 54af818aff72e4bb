from bisect import bisect_left


class Solution:
    def heard(self, count, calls, sources, hops):
        pairs = sorted(map(tuple, calls))
        seen = bytearray(count)
        wave = sorted(set(sources))
        for a in wave:
            seen[a] = 1
        while hops and wave:
            hops, after = hops - 1, []
            for a in wave:
                at = bisect_left(pairs, (a, -1))
                while at < len(pairs) and pairs[at][0] == a:
                    if not seen[pairs[at][1]]:
                        seen[pairs[at][1]] = 1
                        after.append(pairs[at][1])
                    at += 1
            wave = after
        return sorted(wave)
