class Solution:
    def unlit(self, count, tracks, lamps):
        lit = set(lamps)
        for _ in range(count):
            for a, b in tracks:
                if a in lit or b in lit:
                    lit |= {a, b}
        return count - len(lit)
