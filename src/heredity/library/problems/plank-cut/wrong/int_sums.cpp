class Solution {
public:
    long long saw(vector<long long>& weights) {
        int whole = 0, left = 0, best = INT_MAX;
        for (long long weight : weights) whole = int((unsigned)whole + (unsigned)weight);
        long long cut = 1;
        for (size_t i = 0; i + 1 < weights.size(); ++i) {
            left = int((unsigned)left + (unsigned)weights[i]);
            int apart = abs(int((unsigned)whole - 2u * (unsigned)left));
            if (apart < best) best = apart, cut = (long long)i + 1;
        }
        return cut;
    }
};
