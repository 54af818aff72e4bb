class Solution:
    def reachable(self, count, causeways, events):
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
