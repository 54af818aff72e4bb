class Solution {
public:
    long long second(long long count, vector<vector<long long>>& ways) {
        vector<vector<pair<int, long long>>> near(count);
        for (auto& way : ways) {
            near[way[0]].push_back({int(way[1]), way[2]});
            if (way[0] != way[1]) near[way[1]].push_back({int(way[0]), way[2]});
        }
        const long long never = 1LL << 60;
        vector<long long> first(count, never), second(count, never);
        priority_queue<pair<long long, int>, vector<pair<long long, int>>, greater<>> heap;
        first[0] = 0;
        heap.push({0, 0});
        while (!heap.empty()) {
            auto [cost, a] = heap.top();
            heap.pop();
            if (cost > second[a]) continue;
            for (auto [b, more] : near[a]) {
                more += cost;
                if (more < first[b]) {
                    second[b] = first[b];
                    first[b] = more;
                    heap.push({more, b});
                } else if (first[b] < more && more < second[b]) {
                    second[b] = more;
                    heap.push({more, b});
                }
            }
        }
        return second.back() < never ? second.back() : -1;
    }
};
