class Solution {
public:
    vector<long long> walk(long long squares, vector<vector<long long>>& lanes) {
        vector<set<long long>> near(squares);
        for (auto& lane : lanes) near[lane[0]].insert(lane[1]), near[lane[1]].insert(lane[0]);
        long long start = lanes[0][0], odd = 0;
        for (long long s = squares - 1; s >= 0; --s)
            if (near[s].size() % 2) start = s, ++odd;
        if (odd > 2) return {};
        vector<long long> trail{start}, tour;
        while (!trail.empty()) {
            long long here = trail.back();
            if (near[here].empty()) {
                tour.push_back(here);
                trail.pop_back();
                continue;
            }
            long long next = *near[here].begin();
            near[here].erase(next);
            near[next].erase(here);
            trail.push_back(next);
        }
        if (tour.size() != lanes.size() + 1) return {};
        return tour;
    }
};
