class Solution:
    def plots(self, posts):
        middles = {}
        for i, (a, b) in enumerate(posts):
            for c, d in posts[:i]:
                middles.setdefault((a + c, b + d), []).append((a - c) ** 2 + (b - d) ** 2)
        found = 0
        for lengths in middles.values():
            if len(lengths) > 1:
                lengths.sort()
                same = 0
                for one, other in zip(lengths, lengths[1:]):
                    same = same + 1 if one == other else 0
                    found += same
        return found
