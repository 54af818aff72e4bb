class Solution:
    def reachable(self, count, causeways, events):
        # What never sinks is walked once; only the groups that remain are joined later.
        sunk = {i for kind, i in events if kind == 0}
        near = [[] for _ in range(count)]
        for i, (a, b) in enumerate(causeways):
            if i not in sunk:
                near[a].append(b)
                near[b].append(a)
        group, size = [-1] * count, []
        for start in range(count):
            if group[start] < 0:
                group[start], row = len(size), [start]
                for a in row:
                    for b in near[a]:
                        if group[b] < 0:
                            group[b] = len(size)
                            row.append(b)
                size.append(len(row))
        above = list(range(len(size)))

        def find(a):
            while above[a] != a:
                above[a] = a = above[above[a]]
            return a

        seen, steps, answers = set(), [], []
        for event in events:
            if event[0] or event[1] not in seen:
                steps.append(event)
            if not event[0]:
                seen.add(event[1])
        for kind, i in reversed(steps):
            if kind:
                answers.append(size[find(group[i])])
                continue
            a, b = (find(group[x]) for x in causeways[i])
            if a != b:
                a, b = (a, b) if size[a] >= size[b] else (b, a)
                above[b] = a
                size[a] += size[b]
        return answers[::-1]
