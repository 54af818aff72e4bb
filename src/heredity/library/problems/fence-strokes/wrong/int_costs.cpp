class Solution {
public:
    long long cheapest(vector<long long>& colours, vector<long long>& prices) {
        int n = colours.size();
        vector<vector<int>> cost(n + 2, vector<int>(n + 2, 0));
        for (int i = n - 1; i >= 0; --i)
            for (int j = i + 1; j <= n; ++j) {
                int best = int((unsigned)prices[colours[i]] + (unsigned)cost[i + 1][j]);
                for (int k = i + 1; k < j; ++k)
                    if (colours[k] == colours[i]) best = min(best, int((unsigned)cost[i + 1][k] + (unsigned)cost[k][j]));
                cost[i][j] = best;
            }
        return cost[0][n];
    }
};
