class Solution:
    def lie(self, count, sayings):
        # Everybody twice: as a member of the one clan and of the other.
        people, count = count, 2 * count
        group = list(range(count))
        members = [[i] for i in range(count)]

        def find(x):
            return group[x]

        def union(a, b):
            a, b = group[a], group[b]
            if a == b:
                return False
            if len(members[a]) < len(members[b]):
                a, b = b, a
            for x in members[b]:
                group[x] = a
            members[a] += members[b]
            members[b] = []
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
