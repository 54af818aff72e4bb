class Solution:
    def bestTune(self, first, second):
        best = [[(0, False)] * (len(second) + 1) for _ in range(len(first) + 1)]
        for i, a in enumerate(first):
            for j, b in enumerate(second):
                if a == b:
                    points, joined = best[i][j]
                    best[i + 1][j + 1] = (points + 1 + joined, True)
                else:
                    best[i + 1][j + 1] = (max(best[i][j + 1][0], best[i + 1][j][0]), False)
        return best[-1][-1][0]
