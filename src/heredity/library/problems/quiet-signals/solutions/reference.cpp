class Solution {
public:
    long long pairs(vector<long long>& signals, long long limit) {
        vector<long long> counts(65536);
        for (long long s : signals) ++counts[s];
        long long total = 0;
        for (; limit; limit >>= 1) {
            size_t partner = size_t(limit ^ 1);
            if (limit & 1) {
                for (size_t v = 0; v < counts.size(); ++v) {
                    if (partner == 0) total += counts[v] * (counts[v] - 1);
                    else if ((v ^ partner) < counts.size()) total += counts[v] * counts[v ^ partner];
                }
            }
            vector<long long> halved(max<size_t>(1, counts.size() / 2));
            for (size_t v = 0; v < counts.size(); ++v) halved[v / 2] += counts[v];
            counts = halved;
        }
        return total / 2;
    }
};
