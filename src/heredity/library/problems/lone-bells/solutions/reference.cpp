class Solution {
public:
    long long loneMinute(vector<long long>& periods, long long k) {
        const long long top = 100000000000000000LL;
        int n = periods.size();
        map<long long, long long> weights;
        for (int s = 1; s < 1 << n; ++s) {
            long long common = 1, bells = 0;
            for (int i = 0; i < n && common < top; ++i)
                if (s >> i & 1) {
                    common = common / __gcd(common, periods[i]) * periods[i];
                    ++bells;
                }
            if (common < top) weights[common] += bells % 2 ? bells : -bells;
        }
        long long low = 0, high = top;
        while (high - low > 1) {
            long long middle = (low + high) / 2;
            __int128 count = 0;
            for (auto& [common, weight] : weights) count += (__int128)(middle / common) * weight;
            (count < k ? low : high) = middle;
        }
        return high < top ? high : -1;
    }
};
