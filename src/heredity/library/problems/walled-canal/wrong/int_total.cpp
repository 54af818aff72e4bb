class Solution {
public:
    long long water(vector<long long>& walls, vector<long long>& drains) {
        vector<char> dry(walls.size());
        for (long long drain : drains) dry[drain] = 1;
        vector<long long> left;
        long long level = 0;
        for (size_t i = 0; i < walls.size(); ++i) left.push_back(level = dry[i] ? walls[i] : max(level, walls[i]));
        int total = 0;
        level = 0;
        for (size_t i = walls.size(); i-- > 0;) {
            level = dry[i] ? walls[i] : max(level, walls[i]);
            total = int(unsigned(total) + unsigned(min(left[i], level) - walls[i]));
        }
        return total;
    }
};
