class Solution {
public:
    long long arrival(long long stations, vector<vector<long long>>& lines, long long start, long long goal, long long now) {
        vector<vector<array<long long, 3>>> leaving(stations);
        for (auto& line : lines) leaving[line[0]].push_back({line[1], line[2], line[3]});
        vector<char> done(stations);
        priority_queue<pair<long long, long long>, vector<pair<long long, long long>>, greater<>> heap;
        heap.push({now, start});
        while (!heap.empty()) {
            auto [time, a] = heap.top();
            heap.pop();
            if (a == goal) return time;
            if (done[a]) continue;
            done[a] = 1;
            for (auto& [b, period, minutes] : leaving[a])
                if (!done[b]) heap.push({(time + period - 1) / period * period + minutes, b});
        }
        return -1;
    }
};
