class Solution:
    def bestTune(self, first, second):
        n, m = len(first), len(second)
        best = [[0] * (m + 1) for _ in range(n + 1)]
        peak = [[0] * (m + 1) for _ in range(n + 1)]
        run = [[0] * (m + 1) for _ in range(n + 1)]
        for i in range(n):
            for j in range(m):
                found = max(best[i][j + 1], best[i + 1][j])
                if first[i] == second[j]:
                    run[i + 1][j + 1] = run[i][j] + 1
                    # The best over all starts of a run that ends here grows by two with each note.
                    start = best[i][j] + 1
                    peak[i + 1][j + 1] = max(start, peak[i][j] + 2) if run[i][j] else start
                    found = max(found, peak[i + 1][j + 1])
                best[i + 1][j + 1] = found
        return best[n][m]
