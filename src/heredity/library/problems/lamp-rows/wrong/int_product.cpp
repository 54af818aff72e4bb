class Solution {
public:
    long long bright(long long rows, long long columns, vector<vector<long long>>& pulls) {
        unordered_map<long long, unsigned> times[2];
        for (auto& pull : pulls) ++times[pull[0]][pull[1]];
        unsigned down[3] = {unsigned(rows), 0, 0}, across[3] = {unsigned(columns), 0, 0};
        for (auto& [number, pulled] : times[0]) --down[0], ++down[pulled % 3];
        for (auto& [number, pulled] : times[1]) --across[0], ++across[pulled % 3];
        return down[0] * across[2] + down[1] * across[1] + down[2] * across[0];
    }
};
