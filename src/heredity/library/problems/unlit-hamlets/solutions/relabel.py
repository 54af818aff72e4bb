class Solution:
    def unlit(self, count, tracks, lamps):
        group = list(range(count))
        members = [[i] for i in range(count)]

        def find(x):
            return group[x]

        def union(a, b):
            a, b = group[a], group[b]
            if a == b:
                return False
            if len(members[a]) < len(members[b]):
                a, b = b, a
            for x in members[b]:
                group[x] = a
            members[a] += members[b]
            members[b] = []
            return True

        for a, b in tracks:
            union(a, b)
        lit = {find(lamp) for lamp in lamps}
        return sum(find(a) not in lit for a in range(count))
