class Solution {
public:
    long long ropeLength(vector<vector<long long>>& beacons) {
        unsigned far = 0;
        if (beacons.size() > 2000) return -1;
        for (auto& a : beacons)
            for (auto& b : beacons) {
                unsigned x = unsigned(a[0] - b[0]), y = unsigned(a[1] - b[1]);
                far = max(far, x * x + y * y);
            }
        long long rope = 0;
        while (rope * rope < (long long)far) ++rope;
        return rope;
    }
};
