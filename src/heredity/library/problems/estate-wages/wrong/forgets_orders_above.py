class Solution:
    def paid(self, above, orders):
        size, totals, answers = [1] * len(above), [0] * len(above), []
        for i in range(len(above) - 1, 0, -1):
            size[above[i]] += size[i]
        for kind, i, x in orders:
            if kind:
                answers.append(totals[i])
                continue
            more = x * size[i]
            while i >= 0:
                totals[i] += more
                i = above[i]
        return answers
