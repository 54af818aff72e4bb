class Solution:
    def reachable(self, count, causeways, events):
        near = [{} for _ in range(count)]
        for i, (a, b) in enumerate(causeways):
            near[a][i], near[b][i] = b, a
        answers = []
        for kind, i in events:
            if kind:
                answers.append(len({i, *near[i].values()}))
            else:
                for a in causeways[i]:
                    near[a].pop(i, None)
        return answers
