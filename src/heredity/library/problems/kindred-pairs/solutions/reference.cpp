class Solution {
public:
    long long kindredPairs(vector<long long>& numbers, long long measure) {
        int high = 100000 / measure;
        vector<long long> count(high + 1), pairs(high + 1);
        for (long long number : numbers)
            if (number % measure == 0) ++count[number / measure];
        for (int step = high; step; --step) {
            long long many = 0, more = 0;
            for (int i = step; i <= high; i += step) many += count[i], more += pairs[i];
            pairs[step] = many * (many - 1) / 2 - more;
        }
        return pairs[1];
    }
};
