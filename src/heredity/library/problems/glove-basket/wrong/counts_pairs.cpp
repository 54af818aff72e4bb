class Solution {
public:
    long long lonely(vector<long long>& gloves) {
        unordered_map<long long, long long> left;
        long long pairs = 0;
        for (long long glove : gloves) {
            if (left[-glove] > 0) --left[-glove], ++pairs;
            else ++left[glove];
        }
        return pairs;
    }
};
