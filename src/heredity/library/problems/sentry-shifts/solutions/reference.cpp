class Solution {
public:
    long long leastCost(vector<vector<long long>>& pay, vector<vector<long long>>& quarrel) {
        int n = pay.size();
        const long long far = 1LL << 60;
        vector<vector<long long>> best(1 << n, vector<long long>(n, far));
        for (int i = 0; i < n; ++i) best[1 << i][i] = pay[i][0];
        for (int used = 1; used < 1 << n; ++used)
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < n; ++j)
                    if (used >> i & 1 && !(used >> j & 1)) {
                        long long& row = best[used | 1 << j][j];
                        row = min(row, best[used][i] + pay[j][__builtin_popcount(used)] + quarrel[i][j]);
                    }
        return *min_element(best.back().begin(), best.back().end());
    }
};
