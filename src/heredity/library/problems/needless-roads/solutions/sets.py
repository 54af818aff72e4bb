class Solution:
    def needless(self, count, roads):
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

        return [number for number, (a, b) in enumerate(roads) if not union(a, b)]
