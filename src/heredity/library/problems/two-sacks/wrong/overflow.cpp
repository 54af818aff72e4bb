class Solution {
public:
    vector<bool> firstWins(vector<vector<long long>>& sacks) {
        vector<bool> out;
        for (auto& pair : sacks) {
            unsigned long long a = max(pair[0], pair[1]), b = min(pair[0], pair[1]);
            out.push_back((long long)(a * a - a * b - b * b) > 0);
        }
        return out;
    }
};
