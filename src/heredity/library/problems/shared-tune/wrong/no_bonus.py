class Solution:
    def bestTune(self, first, second):
        best = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
        for i, a in enumerate(first):
            for j, b in enumerate(second):
                best[i + 1][j + 1] = best[i][j] + 1 if a == b else max(best[i][j + 1], best[i + 1][j])
        return best[-1][-1]
