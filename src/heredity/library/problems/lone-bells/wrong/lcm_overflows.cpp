class Solution {
public:
    long long loneMinute(vector<long long>& periods, long long k) {
        int n = periods.size();
        vector<pair<int, int>> parts;
        for (int s = 1; s < 1 << n; ++s) {
            int common = 1, sign = -1, bells = 0;
            for (int i = 0; i < n; ++i)
                if (s >> i & 1) {
                    common = int((unsigned)(common / __gcd(common, (int)periods[i])) * (unsigned)periods[i]);
                    if (common <= 0) common = 1 << 30;
                    sign = -sign;
                    ++bells;
                }
            parts.push_back({common, sign * bells});
        }
        long long low = 0, high = 100000000000000000LL, top = high;
        while (high - low > 1) {
            long long middle = (low + high) / 2;
            __int128 count = 0;
            for (auto& p : parts) count += (__int128)(middle / p.first) * p.second;
            (count < k ? low : high) = middle;
        }
        return high < top ? high : -1;
    }
};
