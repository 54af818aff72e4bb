class Solution {
public:
    vector<long long> heaviest(vector<vector<long long>>& crossings) {
        vector<pair<long long, long long>> events;
        for (auto& c : crossings) events.push_back({c[0], -c[2]}), events.push_back({c[1], c[2]});
        sort(events.begin(), events.end());
        int load = 0, most = 0;
        long long first = 0;
        for (auto& [time, weight] : events) {
            load = int((unsigned)load - (unsigned)weight);
            if (load > most) most = load, first = time;
        }
        return {first, most};
    }
};
