class Solution {
public:
    long long treesInside(vector<vector<long long>>& fence) {
        unsigned twice = 0, felled = 0;
        for (size_t i = 0; i < fence.size(); ++i) {
            auto &a = fence[i], &b = fence[(i + 1) % fence.size()];
            twice += unsigned(a[0] * b[1] - a[1] * b[0]);
            felled += unsigned(__gcd(llabs(a[0] - b[0]), llabs(a[1] - b[1])));
        }
        return (llabs((long long)int(twice)) - felled + 2) / 2;
    }
};
