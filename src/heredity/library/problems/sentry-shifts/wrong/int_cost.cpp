class Solution {
public:
    long long leastCost(vector<vector<long long>>& pay, vector<vector<long long>>& quarrel) {
        int n = pay.size();
        vector<vector<int>> best(1 << n, vector<int>(n, INT_MAX));
        for (int i = 0; i < n; ++i) best[1 << i][i] = pay[i][0];
        for (int used = 1; used < 1 << n; ++used)
            for (int i = 0; i < n; ++i)
                if (used >> i & 1 && best[used][i] != INT_MAX)
                    for (int j = 0; j < n; ++j)
                        if (!(used >> j & 1)) {
                            unsigned total = unsigned(best[used][i]) + unsigned(pay[j][__builtin_popcount(used)]) + unsigned(quarrel[i][j]);
                            int& row = best[used | 1 << j][j];
                            row = min(row, int(total));
                        }
        return *min_element(best.back().begin(), best.back().end());
    }
};
