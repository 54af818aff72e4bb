class Solution {
public:
    long long saw(vector<long long>& weights) {
        long long whole = accumulate(weights.begin(), weights.end(), 0LL), left = 0, best = LLONG_MAX, cut = 1;
        for (size_t i = 0; i + 1 < weights.size(); ++i) {
            left += weights[i];
            long long apart = llabs(whole - 2 * left);
            if (apart < best) best = apart, cut = (long long)i + 1;
        }
        return cut;
    }
};
