class Solution:
    def reachable(self, count, causeways, events):
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

        size = {a: 1 for a in range(count)}

        def join(a, b):
            a, b = find(a), find(b)
            if a != b:
                total = size[a] + size[b]
                union(a, b)
                size[find(a)] = total

        sunk = {i for kind, i in events if kind == 0}
        for i, (a, b) in enumerate(causeways):
            if i not in sunk:
                join(a, b)
        answers = []
        for kind, i in reversed(events):
            if kind:
                answers.append(size[find(i)])
            else:
                join(*causeways[i])
        return answers[::-1]
