class Solution:
    def needless(self, count, roads):
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

        return [number for number, (a, b) in enumerate(roads) if not union(a, b)]
