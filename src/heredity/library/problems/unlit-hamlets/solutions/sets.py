class Solution:
    def unlit(self, count, tracks, lamps):
        team = {i: {i} for i in range(count)}

        def find(x):
            return id(team[x])

        def union(a, b):
            a, b = team[a], team[b]
            if a is b:
                return False
            if len(a) < len(b):
                a, b = b, a
            a |= b
            for x in b:
                team[x] = a
            return True

        for a, b in tracks:
            union(a, b)
        lit = {find(lamp) for lamp in lamps}
        return sum(find(a) not in lit for a in range(count))
