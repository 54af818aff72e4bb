class Solution {
public:
    long long latestArrival(long long towns, vector<vector<long long>>& roads, long long start) {
        vector<vector<pair<int, long long>>> leaving(towns);
        for (auto& road : roads) leaving[road[0]].push_back({int(road[1]), road[2]});
        vector<long long> arrival(towns, -1);
        priority_queue<pair<long long, int>, vector<pair<long long, int>>, greater<>> waiting;
        waiting.push({0, int(start)});
        long long reached = 0, last = 0;
        while (!waiting.empty()) {
            auto [time, town] = waiting.top();
            waiting.pop();
            if (arrival[town] >= 0) continue;
            arrival[town] = last = time;
            ++reached;
            for (auto [other, hours] : leaving[town])
                if (arrival[other] < 0) waiting.push({time + hours, other});
        }
        return reached == towns ? last : -1;
    }
};
