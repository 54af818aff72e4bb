class Solution {
public:
    vector<long long> closest(vector<vector<long long>>& stalls) {
        sort(stalls.begin(), stalls.end());
        // Squares go up to 8 * 10^18.
        long long best = LLONG_MAX, many = 0, reach = 1LL << 32;
        set<pair<long long, long long>> active;
        size_t old = 0;
        for (auto& p : stalls) {
            long long x = p[0], y = p[1];
            while (stalls[old][0] < x - reach) {
                active.erase({stalls[old][1], stalls[old][0]});
                ++old;
            }
            for (auto at = active.lower_bound({y - reach, LLONG_MIN}); at != active.end() && at->first <= y + reach; ++at) {
                long long a = x - at->second, b = y - at->first, far = a * a + b * b;
                if (far < best) {
                    best = far;
                    many = 1;
                    reach = (long long)sqrt((double)far) + 1;
                } else if (far == best) {
                    ++many;
                }
            }
            active.insert({y, x});
        }
        return {best, many};
    }
};
