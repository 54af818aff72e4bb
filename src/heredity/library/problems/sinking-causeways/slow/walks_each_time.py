class Solution:
    def reachable(self, count, causeways, events):
        near = [{} for _ in range(count)]
        for i, (a, b) in enumerate(causeways):
            near[a][i], near[b][i] = b, a
        answers = []
        for kind, i in events:
            if kind == 0:
                for a in causeways[i]:
                    near[a].pop(i, None)
                continue
            seen, stack = {i}, [i]
            while stack:
                for b in near[stack.pop()].values():
                    if b not in seen:
                        seen.add(b)
                        stack.append(b)
            answers.append(len(seen))
        return answers
