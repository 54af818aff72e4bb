class Solution:
    def reachable(self, count, causeways, events):
        above, size = list(range(count)), [1] * count

        def find(a):
            while above[a] != a:
                above[a] = a = above[above[a]]
            return a

        def join(a, b):
            a, b = find(a), find(b)
            if a != b:
                if size[a] < size[b]:
                    a, b = b, a
                above[b] = a
                size[a] += size[b]

        sunk, first = set(), []
        for kind, i in events:
            first.append(kind == 0 and i not in sunk)
            if kind == 0:
                sunk.add(i)
        for i, (a, b) in enumerate(causeways):
            if i not in sunk:
                join(a, b)
        answers = []
        for (kind, i), sinks in zip(reversed(events), reversed(first)):
            if kind:
                answers.append(size[find(i)])
            elif sinks:
                join(*causeways[i])
        return answers[::-1]
