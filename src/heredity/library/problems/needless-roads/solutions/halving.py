class Solution:
    def needless(self, count, roads):
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

        return [number for number, (a, b) in enumerate(roads) if not union(a, b)]
