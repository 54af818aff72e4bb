class Solution:
    def paid(self, above, orders):
        below, wages, answers = [[i] for i in range(len(above))], [0] * len(above), []
        for i in range(1, len(above)):
            below[above[i]].append(i)
        for kind, i, x in orders:
            if kind:
                answers.append(sum(wages[j] for j in below[i]))
            else:
                for j in below[i]:
                    wages[j] += x
        return answers
