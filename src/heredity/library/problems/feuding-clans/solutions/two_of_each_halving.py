class Solution:
    def lie(self, count, sayings):
        # Everybody twice: as a member of the one clan and of the other.
        people, count = count, 2 * count
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
