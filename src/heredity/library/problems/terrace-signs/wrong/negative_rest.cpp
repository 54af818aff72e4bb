class Solution {
public:
    long long gardens(string signs) {
        const long long mod = 1000000007;
        vector<long long> ways = {1};
        for (char sign : signs) {
            vector<long long> sums = {0};
            for (long long one : ways) sums.push_back((sums.back() + one) % mod);
            vector<long long> now;
            for (long long one : sums) now.push_back(sign == '<' ? one : sign == '>' ? (sums.back() - one) % mod : sums.back());
            ways = now;
        }
        return accumulate(ways.begin(), ways.end(), 0LL) % mod;
    }
};
