class Solution {
public:
    vector<long long> unwatched(vector<vector<long long>>& watches) {
        sort(watches.begin(), watches.end());
        vector<long long> gap;
        int best = 0;
        long long last = watches[0][1];
        for (auto& watch : watches) {
            int time = int(watch[0] - last);
            if (time > best) best = time, gap = {last, watch[0]};
            last = max(last, watch[1]);
        }
        return gap;
    }
};
