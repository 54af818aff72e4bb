class Solution:
    def needless(self, count, roads):
        group = list(range(count))

        def find(x):
            return group[x]

        def union(a, b):
            a, b = group[a], group[b]
            if a == b:
                return False
            for x in range(count):
                if group[x] == b:
                    group[x] = a
            return True

        return [number for number, (a, b) in enumerate(roads) if not union(a, b)]
