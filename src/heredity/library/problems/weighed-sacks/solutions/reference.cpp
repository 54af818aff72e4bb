class Solution {
    static vector<long long> sums(vector<long long> part) {
        vector<long long> found{0};
        for (long long sack : part)
            for (size_t i = 0, size = found.size(); i < size; ++i) found.push_back(found[i] + sack);
        sort(found.begin(), found.end());
        return found;
    }
public:
    long long selections(vector<long long>& sacks, long long low, long long high) {
        auto middle = sacks.begin() + sacks.size() / 2;
        auto left = sums({sacks.begin(), middle}), right = sums({middle, sacks.end()});
        long long count = 0;
        size_t first = right.size(), last = right.size();
        for (long long total : left) {
            while (first && right[first - 1] + total >= low) --first;
            while (last && right[last - 1] + total > high) --last;
            count += (long long)last - (long long)first;
        }
        return count;
    }
};
