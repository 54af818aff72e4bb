class Solution:
    def unlit(self, count, tracks, lamps):
        lit = [False] * count
        for lamp in lamps:
            lit[lamp] = True
        changed = True
        while changed:
            changed = False
            for a, b in tracks:
                if lit[a] != lit[b]:
                    lit[a] = lit[b] = changed = True
        return lit.count(False)
