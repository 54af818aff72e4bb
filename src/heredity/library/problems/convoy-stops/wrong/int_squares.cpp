class Solution {
public:
    long long leastTrouble(vector<long long>& crates, long long ideal) {
        int n = crates.size();
        vector<int> sums(n + 1), best(n + 1);
        for (int i = 0; i < n; ++i) sums[i + 1] = sums[i] + crates[i];
        for (int j = 1; j <= n; ++j) {
            best[j] = INT_MAX;
            for (int i = 0; i < j; ++i) {
                unsigned d = sums[j] - sums[i] - ideal;
                best[j] = min(best[j], int((unsigned)best[i] + d * d));
            }
        }
        return best[n];
    }
};
