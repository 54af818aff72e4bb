class Solution {
public:
    long long lonely(vector<long long>& gloves) {
        unordered_map<long long, long long> left;
        for (long long glove : gloves) left[abs(glove)] += glove > 0 ? 1 : -1;
        long long alone = 0;
        for (auto& [size, more] : left) alone += abs(more);
        return alone;
    }
};
