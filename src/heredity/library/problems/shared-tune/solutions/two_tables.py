class Solution:
    def bestTune(self, first, second):
        best = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
        ended = [[-9] * (len(second) + 1) for _ in range(len(first) + 1)]
        for i, a in enumerate(first, 1):
            for j, b in enumerate(second, 1):
                if a == b:
                    ended[i][j] = 1 + max(best[i - 1][j - 1], ended[i - 1][j - 1] + 1)
                best[i][j] = max(best[i - 1][j], best[i][j - 1], ended[i][j])
        return best[-1][-1]
