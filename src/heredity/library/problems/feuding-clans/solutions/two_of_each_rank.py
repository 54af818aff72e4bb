class Solution:
    def lie(self, count, sayings):
        # Everybody twice: as a member of the one clan and of the other.
        people, count = count, 2 * count
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

        for number, (a, b, apart) in enumerate(sayings):
            if apart:
                union(a, b + people)
                union(a + people, b)
            else:
                union(a, b)
                union(a + people, b + people)
            if find(a) == find(a + people):
                return number
        return -1
