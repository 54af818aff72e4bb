class Solution:
    def paid(self, above, orders):
        below, wages, answers = [[] for _ in above], [0] * len(above), []
        for i in range(1, len(above)):
            below[above[i]].append(i)
        for kind, i, x in orders:
            stack, total = [i], 0
            while stack:
                j = stack.pop()
                stack += below[j]
                if kind:
                    total += wages[j]
                else:
                    wages[j] += x
            if kind:
                answers.append(total)
        return answers
