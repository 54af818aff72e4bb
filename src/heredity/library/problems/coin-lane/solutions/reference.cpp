class Solution {
public:
    long long bestLead(vector<long long>& coins) {
        int n = coins.size();
        vector<vector<array<long long, 4>>> lead(n + 2, vector<array<long long, 4>>(n + 1, array<long long, 4>{}));
        for (int start = n - 1; start >= 0; --start)
            for (int end = start + 1; end <= n; ++end)
                for (int mine = 0; mine < 2; ++mine)
                    for (int yours = 0; yours < 2; ++yours) {
                        int after = 2 * yours + mine;
                        long long best = max(coins[start] - lead[start + 1][end][after], coins[end - 1] - lead[start][end - 1][after]);
                        if (mine && end - start > 1) {
                            best = max(best, coins[start] + coins[start + 1] - lead[start + 2][end][2 * yours]);
                            best = max(best, coins[end - 1] + coins[end - 2] - lead[start][end - 2][2 * yours]);
                        }
                        lead[start][end][2 * mine + yours] = best;
                    }
        return lead[0][n][3];
    }
};
