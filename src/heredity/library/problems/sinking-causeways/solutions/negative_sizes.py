class Solution:
    def reachable(self, count, causeways, events):
        above = [-1] * count

        def find(a):
            root = a
            while above[root] >= 0:
                root = above[root]
            while above[a] >= 0:
                above[a], a = root, above[a]
            return root

        steps, sunk = [], bytearray(len(causeways))
        for kind, i in events:
            if kind or not sunk[i]:
                steps.append(i if kind else ~i)
            if not kind:
                sunk[i] = 1
        steps += [~i for i in range(len(causeways)) if not sunk[i]]
        answers = []
        for step in reversed(steps):
            if step >= 0:
                answers.append(-above[find(step)])
                continue
            a, b = map(find, causeways[~step])
            if a != b:
                if above[a] > above[b]:
                    a, b = b, a
                above[a] += above[b]
                above[b] = a
        return answers[::-1]
