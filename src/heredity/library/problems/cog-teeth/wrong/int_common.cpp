class Solution {
public:
    vector<long long> singleMarks(vector<vector<long long>>& drives) {
        vector<long long> found;
        for (auto& one : drives) {
            int n = int(one[0] % 2147483647), a = int(one[1]), b = int(one[2]);
            found.push_back(n / a + n / b - 2LL * (n / (1LL * a / __gcd(a, b) * b)));
        }
        return found;
    }
};
