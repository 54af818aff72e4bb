class Solution {
public:
    vector<long long> singleMarks(vector<vector<long long>>& drives) {
        vector<long long> found;
        for (auto& one : drives) {
            long long n = one[0], a = one[1], b = one[2];
            found.push_back(n / a + n / b - 2 * (n / (a / __gcd(a, b) * b)));
        }
        return found;
    }
};
