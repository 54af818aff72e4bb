class Solution:
    def lie(self, count, sayings):
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

        feuds = set()
        for number, (a, b, apart) in enumerate(sayings):
            if apart:
                if find(a) == find(b):
                    return number
                feuds.add((a, b))
            else:
                union(a, b)
                if any(find(c) == find(d) for c, d in feuds):
                    return number
        return -1
