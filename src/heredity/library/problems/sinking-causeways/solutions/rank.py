class Solution:
    def reachable(self, count, causeways, events):
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

        size = {find(a): 1 for a in range(count)}

        def join(a, b):
            total = size[find(a)] + size[find(b)]
            if union(a, b):
                size[find(a)] = total

        when = {}
        for time, (kind, i) in enumerate(events):
            if kind == 0:
                when.setdefault(i, time)
        for i, (a, b) in enumerate(causeways):
            if i not in when:
                join(a, b)
        answers = []
        for time in range(len(events) - 1, -1, -1):
            kind, i = events[time]
            if kind:
                answers.append(size[find(i)])
            elif when[i] == time:
                join(*causeways[i])
        answers.reverse()
        return answers
