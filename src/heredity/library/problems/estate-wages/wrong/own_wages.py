class Solution:
    def paid(self, above, orders):
        change, answers = [0] * len(above), []
        for kind, i, x in orders:
            if kind == 0:
                change[i] += x
                continue
            total = 0
            while i >= 0:
                total, i = total + change[i], above[i]
            answers.append(total)
        return answers
