class Solution {
public:
    double highestMean(vector<double>& levels, long long hours) {
        long double total = 0, best = -1e18;
        for (size_t i = 0; i < levels.size(); ++i) {
            total += levels[i];
            if (i >= size_t(hours)) total -= levels[i - hours];
            if (i + 1 >= size_t(hours)) best = max(best, total / hours);
        }
        return double(best);
    }
};
