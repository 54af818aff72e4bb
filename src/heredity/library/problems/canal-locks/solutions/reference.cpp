class Solution {
    static constexpr long long modulus = 1000000007;
    vector<long long> factorial, inverse;
    long long paths(long long down, long long right) {
        if (down < 0 || right < 0) return 0;
        return factorial[down + right] * inverse[down] % modulus * inverse[right] % modulus;
    }
public:
    long long routes(long long rows, long long columns, vector<vector<long long>>& closed) {
        size_t size = rows + columns + 1;
        factorial.assign(size, 1), inverse.assign(size, 1);
        for (size_t i = 2; i < size; ++i) {
            factorial[i] = factorial[i - 1] * i % modulus;
            inverse[i] = (modulus - modulus / (long long)i) * inverse[modulus % i] % modulus;
        }
        for (size_t i = 2; i < size; ++i) inverse[i] = inverse[i] * inverse[i - 1] % modulus;
        sort(closed.begin(), closed.end());
        closed.push_back({rows - 1, columns - 1});
        vector<long long> ways;
        for (auto& stop : closed) {
            long long total = paths(stop[0], stop[1]);
            for (size_t i = 0; i < ways.size(); ++i)
                total = (total + (modulus - ways[i]) * paths(stop[0] - closed[i][0], stop[1] - closed[i][1])) % modulus;
            ways.push_back(total);
        }
        return ways.back();
    }
};
