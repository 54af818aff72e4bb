class Solution {
public:
    vector<bool> firstWins(vector<vector<long long>>& sacks) {
        vector<bool> out;
        for (auto& pair : sacks) {
            long long a = max(pair[0], pair[1]), b = min(pair[0], pair[1]);
            bool wins = true;
            while (b < a && a < 2 * b) {
                long long rest = a - b;
                a = b;
                b = rest;
                wins = !wins;
            }
            out.push_back(a > b ? wins : !wins);
        }
        return out;
    }
};
