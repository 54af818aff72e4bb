class Solution {
public:
    long long leastWaiting(vector<vector<long long>>& cloths, long long rest) {
        sort(cloths.begin(), cloths.end(), [&](auto& a, auto& b) { return (a[0] + rest) * b[1] < (b[0] + rest) * a[1]; });
        long long clock = 0, cost = 0;
        for (auto& cloth : cloths) cost += (clock + cloth[0]) * cloth[1], clock += cloth[0] + rest;
        return cost;
    }
};
