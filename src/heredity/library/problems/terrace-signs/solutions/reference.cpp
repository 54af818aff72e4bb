class Solution {
public:
    long long gardens(string signs) {
        const long long mod = 1000000007;
        vector<long long> ways = {1};
        for (char sign : signs) {
            vector<long long> sums = {0};
            for (long long one : ways) sums.push_back((sums.back() + one) % mod);
            for (size_t i = 0; i < sums.size(); ++i) {
                long long all = sums.back();
                if (i + 1 == sums.size()) ways.push_back(0);
                ways[i] = sign == '<' ? sums[i] : sign == '>' ? (all - sums[i] + mod) % mod : all;
            }
        }
        return accumulate(ways.begin(), ways.end(), 0LL) % mod;
    }
};
