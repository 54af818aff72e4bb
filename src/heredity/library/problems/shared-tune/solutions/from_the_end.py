class Solution:
    def bestTune(self, first, second):
        n, m = len(first), len(second)
        free = [[0] * (m + 2) for _ in range(n + 2)]
        joined = [[0] * (m + 2) for _ in range(n + 2)]
        for i in range(n - 1, -1, -1):
            for j in range(m - 1, -1, -1):
                found = max(free[i + 1][j], free[i][j + 1])
                free[i][j] = joined[i][j] = found
                if first[i] == second[j]:
                    free[i][j] = max(found, 1 + joined[i + 1][j + 1])
                    joined[i][j] = max(found, 2 + joined[i + 1][j + 1])
        return free[0][0]
