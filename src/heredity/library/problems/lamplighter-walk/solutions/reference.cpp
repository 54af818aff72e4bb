class Solution {
public:
    vector<long long> walk(long long squares, vector<vector<long long>>& lanes) {
        vector<vector<pair<int, int>>> leaving(squares);
        for (int i = 0; i < int(lanes.size()); ++i) {
            leaving[lanes[i][0]].push_back({int(lanes[i][1]), i});
            leaving[lanes[i][1]].push_back({int(lanes[i][0]), i});
        }
        long long start = lanes[0][0], odd = 0;
        for (long long s = squares - 1; s >= 0; --s)
            if (leaving[s].size() % 2) start = s, ++odd;
        if (odd > 2) return {};
        vector<char> walked(lanes.size());
        vector<long long> trail{start}, tour;
        while (!trail.empty()) {
            auto& ways = leaving[trail.back()];
            while (!ways.empty() && walked[ways.back().second]) ways.pop_back();
            if (ways.empty()) {
                tour.push_back(trail.back());
                trail.pop_back();
            } else {
                auto [square, number] = ways.back();
                ways.pop_back();
                walked[number] = 1;
                trail.push_back(square);
            }
        }
        if (tour.size() != lanes.size() + 1) return {};
        return tour;
    }
};
