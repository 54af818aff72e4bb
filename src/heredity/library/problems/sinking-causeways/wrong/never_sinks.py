class Solution:
    def reachable(self, count, causeways, events):
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

        for a, b in causeways:
            union(a, b)
        size = {}
        for a in range(count):
            size[find(a)] = size.get(find(a), 0) + 1
        return [size[find(a)] for kind, a in events if kind]
