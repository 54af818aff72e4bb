class Solution:
    def unlit(self, count, tracks, lamps):
        above = [-1] * count

        def find(x):
            while above[x] >= 0:
                x = above[x]
            return x

        def union(a, b):
            a, b = find(a), find(b)
            if a == b:
                return False
            if above[a] > above[b]:
                a, b = b, a
            above[a] += above[b]
            above[b] = a
            return True

        for a, b in tracks:
            union(a, b)
        lit = {find(lamp) for lamp in lamps}
        return sum(find(a) not in lit for a in range(count))
