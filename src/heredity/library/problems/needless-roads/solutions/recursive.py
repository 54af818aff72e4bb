class Solution:
    def needless(self, count, roads):
        above = list(range(count))

        def find(x):
            if above[x] != x:
                above[x] = find(above[x])
            return above[x]

        def union(a, b):
            a, b = find(a), find(b)
            above[b] = a
            return a != b

        return [number for number, (a, b) in enumerate(roads) if not union(a, b)]
