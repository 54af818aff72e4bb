class Solution {
public:
    long long longest(vector<vector<long long>>& heights, long long leap) {
        int rows = int(heights.size()), columns = int(heights[0].size());
        vector<int> order(rows * columns), stands(rows * columns, 1);
        iota(order.begin(), order.end(), 0);
        auto height = [&](int rock) { return heights[rock / columns][rock % columns]; };
        sort(order.begin(), order.end(), [&](int a, int b) { return height(a) < height(b); });
        for (int rock : order) {
            auto from = [&](int near) {
                long long rise = height(rock) - height(near);
                if (0 < rise && rise <= leap) stands[rock] = max(stands[rock], stands[near] + 1);
            };
            if (rock % columns) from(rock - 1);
            if ((rock + 1) % columns) from(rock + 1);
            if (rock >= columns) from(rock - columns);
            if (rock + columns < rows * columns) from(rock + columns);
        }
        return *max_element(stands.begin(), stands.end());
    }
};
