class Solution:
    def oddChance(self, chances):
        state = [[1.0, 0.0], [0.0, 1.0]]
        for chance in chances:
            step = [[1 - chance, chance], [chance, 1 - chance]]
            state = [[sum(state[i][k] * step[k][j] for k in (0, 1)) for j in (0, 1)] for i in (0, 1)]
        return state[0][1]
