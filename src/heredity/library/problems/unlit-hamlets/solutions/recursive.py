class Solution:
    def unlit(self, count, tracks, lamps):
        above = list(range(count))

        def find(x):
            if above[x] != x:
                above[x] = find(above[x])
            return above[x]

        def union(a, b):
            a, b = find(a), find(b)
            above[b] = a
            return a != b

        for a, b in tracks:
            union(a, b)
        lit = {find(lamp) for lamp in lamps}
        return sum(find(a) not in lit for a in range(count))
