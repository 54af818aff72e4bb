class Solution {
public:
    long long leastTrouble(vector<long long>& crates, long long ideal) {
        vector<pair<long long, long long>> hull = {{ideal, ideal * ideal}};
        size_t head = 0;
        long long weight = 0, best = 0;
        for (long long crate : crates) {
            weight += crate;
            while (head + 1 < hull.size() &&
                   hull[head + 1].second - hull[head].second <= 2 * weight * (hull[head + 1].first - hull[head].first))
                ++head;
            best = weight * weight - 2 * weight * hull[head].first + hull[head].second;
            long long s = weight + ideal, b = best + s * s;
            while (hull.size() - head > 1) {
                auto [p, q] = hull[hull.size() - 2];
                auto [r, t] = hull.back();
                if ((__int128)(b - t) * (r - p) > (__int128)(t - q) * (s - r)) break;
                hull.pop_back();
            }
            hull.push_back({s, b});
        }
        return best;
    }
};
