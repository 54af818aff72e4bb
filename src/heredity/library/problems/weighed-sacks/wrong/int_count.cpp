class Solution {
    static vector<long long> sums(vector<long long> part) {
        vector<long long> found{0};
        for (long long sack : part) {
            size_t size = found.size();
            for (size_t i = 0; i < size; ++i) found.push_back(found[i] + sack);
        }
        sort(found.begin(), found.end());
        return found;
    }
public:
    long long selections(vector<long long>& sacks, long long low, long long high) {
        auto middle = sacks.begin() + sacks.size() / 2;
        auto left = sums({sacks.begin(), middle}), right = sums({middle, sacks.end()});
        unsigned count = 0;
        for (long long total : left)
            count += unsigned(upper_bound(right.begin(), right.end(), high - total) - lower_bound(right.begin(), right.end(), low - total));
        return int(count);
    }
};
