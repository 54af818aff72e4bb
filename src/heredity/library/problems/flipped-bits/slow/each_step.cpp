class Solution {
public:
    long long flips(vector<vector<long long>>& spans) {
        volatile long long total = 0;
        for (auto& span : spans)
            for (long long number = span[0]; number < span[1]; ++number) total = total + 1 + __builtin_ctzll(~number);
        return total;
    }
};
