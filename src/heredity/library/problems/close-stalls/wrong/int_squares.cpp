class Solution {
public:
    vector<long long> closest(vector<vector<long long>>& stalls) {
        sort(stalls.begin(), stalls.end());
        unsigned best = 2147483647u;
        long long many = 0;
        size_t count = stalls.size();
        for (size_t i = 0; i < count; ++i)
            for (size_t j = i + 1; j < min(count, i + 800); ++j) {
                unsigned x = unsigned(stalls[i][0] - stalls[j][0]), y = unsigned(stalls[i][1] - stalls[j][1]);
                unsigned far = (x * x + y * y) & 2147483647u;
                if (far < best) best = far, many = 1;
                else if (far == best) ++many;
            }
        return {int(best), many};
    }
};
