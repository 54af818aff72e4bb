class Solution {
public:
    vector<long long> unwatched(vector<vector<long long>>& watches) {
        sort(watches.begin(), watches.end());
        vector<long long> gap;
        long long best = 0, last = watches[0][1];
        for (auto& watch : watches) {
            if (watch[0] - last > best) best = watch[0] - last, gap = {last, watch[0]};
            last = max(last, watch[1]);
        }
        return gap;
    }
};
