class Solution {
public:
    long long tastings(vector<long long>& teas, long long low, long long high) {
        auto upTo = [&](long long kinds) {
            unordered_map<long long, int> count;
            long long total = 0;
            size_t start = 0;
            for (size_t i = 0; i < teas.size(); ++i) {
                ++count[teas[i]];
                while ((long long)count.size() > kinds) {
                    auto gone = count.find(teas[start++]);
                    if (!--gone->second) count.erase(gone);
                }
                total += (long long)(i + 1 - start);
            }
            return total;
        };
        return upTo(high) - upTo(low - 1);
    }
};
