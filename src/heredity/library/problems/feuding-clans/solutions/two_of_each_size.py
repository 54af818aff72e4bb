class Solution:
    def lie(self, count, sayings):
        # Everybody twice: as a member of the one clan and of the other.
        people, count = count, 2 * count
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
