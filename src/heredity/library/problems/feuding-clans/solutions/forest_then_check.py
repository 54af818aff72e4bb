class Solution:
    def lie(self, count, sayings):
        # A saying that joins two groups is never a lie: colour by those alone, then look for the first that does not fit.
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

        near = [[] for _ in range(count)]
        for a, b, apart in sayings:
            if union(a, b):
                near[a].append((b, apart))
                near[b].append((a, apart))
        clan = [None] * count
        for start in range(count):
            if clan[start] is None:
                clan[start], order = 0, [start]
                for a in order:
                    for b, apart in near[a]:
                        if clan[b] is None:
                            clan[b] = clan[a] ^ apart
                            order.append(b)
        return next((i for i, (a, b, apart) in enumerate(sayings) if clan[a] ^ clan[b] != apart), -1)
