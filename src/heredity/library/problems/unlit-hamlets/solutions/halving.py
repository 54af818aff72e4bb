class Solution:
    def unlit(self, count, tracks, lamps):
        above = list(range(count))

        def find(x):
            while above[x] != x:
                above[x] = above[above[x]]
                x = above[x]
            return x

        def union(a, b):
            a, b = find(a), find(b)
            above[a] = b
            return a != b

        for a, b in tracks:
            union(a, b)
        lit = {find(lamp) for lamp in lamps}
        return sum(find(a) not in lit for a in range(count))
