class Solution {
public:
    long long leastWaiting(vector<vector<long long>>& cloths, long long rest) {
        sort(cloths.begin(), cloths.end(), [&](auto& a, auto& b) { return (a[0] + rest) * b[1] < (b[0] + rest) * a[1]; });
        unsigned clock = 0, cost = 0;
        for (auto& cloth : cloths) cost += (clock + unsigned(cloth[0])) * unsigned(cloth[1]), clock += unsigned(cloth[0] + rest);
        return int(cost);
    }
};
