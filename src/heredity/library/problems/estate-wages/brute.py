class Solution:
    def paid(self, above, orders):
        wages, answers = [0] * len(above), []
        for kind, i, x in orders:
            team = {i}
            for j in range(len(above)):
                if above[j] in team:
                    team.add(j)
            if kind == 0:
                for j in team:
                    wages[j] += x
            else:
                answers.append(sum(wages[j] for j in team))
        return answers
