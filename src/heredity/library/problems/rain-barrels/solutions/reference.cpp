class Solution {
public:
    vector<long long> collected(vector<vector<long long>>& years) {
        vector<long long> found;
        for (auto& year : years) {
            long long m = year[2], total = 0, part = 1 % m, factor = year[0] % m;
            for (long long n = year[1]; n; n >>= 1) {
                if (n & 1) total = (total * factor + part) % m;
                part = part * (factor + 1) % m, factor = factor * factor % m;
            }
            found.push_back(total);
        }
        return found;
    }
};
