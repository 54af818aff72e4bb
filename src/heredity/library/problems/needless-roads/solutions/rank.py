class Solution:
    def needless(self, count, roads):
        above, rank = list(range(count)), [0] * count

        def find(x):
            root = x
            while above[root] != root:
                root = above[root]
            while above[x] != root:
                above[x], x = root, above[x]
            return root

        def union(a, b):
            a, b = find(a), find(b)
            if a == b:
                return False
            if rank[a] < rank[b]:
                a, b = b, a
            above[b] = a
            rank[a] += rank[a] == rank[b]
            return True

        return [number for number, (a, b) in enumerate(roads) if not union(a, b)]
