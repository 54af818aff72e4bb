class Solution:
    def lie(self, count, sayings):
        # Everybody twice: as a member of the one clan and of the other.
        people, count = count, 2 * count
        team = {i: {i} for i in range(count)}

        def find(x):
            return id(team[x])

        def union(a, b):
            a, b = team[a], team[b]
            if a is b:
                return False
            if len(a) < len(b):
                a, b = b, a
            a |= b
            for x in b:
                team[x] = a
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
