class Solution {
public:
    vector<long long> heaviest(vector<vector<long long>>& crossings) {
        vector<pair<long long, long long>> events;
        for (auto& c : crossings) events.push_back({c[0], -c[2]}), events.push_back({c[1], c[2]});
        sort(events.begin(), events.end());
        long long load = 0;
        vector<long long> best = {0, 0};
        for (auto& [time, weight] : events) {
            load -= weight;
            if (load > best[1]) best = {time, load};
        }
        return best;
    }
};
