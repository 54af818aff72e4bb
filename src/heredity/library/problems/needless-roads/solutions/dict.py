class Solution:
    def needless(self, count, roads):
        above = {}

        def find(x):
            trail = []
            while x in above:
                trail.append(x)
                x = above[x]
            for y in trail:
                above[y] = x
            return x

        def union(a, b):
            a, b = find(a), find(b)
            if a != b:
                above[a] = b
            return a != b

        return [number for number, (a, b) in enumerate(roads) if not union(a, b)]
