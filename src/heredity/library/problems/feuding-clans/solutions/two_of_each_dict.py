class Solution:
    def lie(self, count, sayings):
        # Everybody twice: as a member of the one clan and of the other.
        people, count = count, 2 * count
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
