class Solution {
public:
    long long pairs(vector<long long>& signals, long long limit) {
        vector<int> counts(65536);
        for (long long s : signals) ++counts[s];
        unsigned total = 0;
        for (long long left = limit; left; left >>= 1) {
            if (left & 1) {
                long long partner = left ^ 1;
                unsigned here = 0, twice = 0;
                for (size_t v = 0; v < counts.size(); ++v) {
                    if (partner == 0) here += unsigned((long long)counts[v] * (counts[v] - 1) / 2);
                    else if ((v ^ partner) < counts.size() && v < (v ^ partner)) twice += unsigned(counts[v]) * unsigned(counts[v ^ partner]);
                }
                total += here + twice;
            }
            vector<int> halved(max<size_t>(1, counts.size() / 2));
            for (size_t v = 0; v < counts.size(); ++v) halved[v / 2] += counts[v];
            counts = halved;
        }
        return int(total);
    }
};
