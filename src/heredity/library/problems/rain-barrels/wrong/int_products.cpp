class Solution {
public:
    vector<long long> collected(vector<vector<long long>>& years) {
        vector<long long> found;
        for (auto& year : years) {
            unsigned m = year[2], sum = 0, power = 1 % m, part = 1 % m, factor = year[0] % m;
            for (long long n = year[1]; n; n >>= 1) {
                if (n & 1) sum = (sum * factor + part) % m, power = power * factor % m;
                part = (part * factor + part) % m, factor = factor * factor % m;
            }
            found.push_back(sum);
        }
        return found;
    }
};
