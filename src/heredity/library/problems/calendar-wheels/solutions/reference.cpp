class Solution {
    static long long euclid(long long a, long long b, long long& x, long long& y) {
        if (!b) return x = 1, y = 0, a;
        long long g = euclid(b, a % b, y, x);
        return y -= a / b * x, g;
    }
public:
    long long nextFeast(vector<vector<long long>>& wheels, long long start) {
        long long day = 0, period = 1;
        for (auto& wheel : wheels) {
            long long teeth = wheel[0], x, y, g = euclid(period, teeth, x, y), part = teeth / g;
            if ((wheel[1] - day) % g) return -1;
            long long turns = (long long)((__int128)((wheel[1] - day) / g % part) * (x % part) % part);
            if (turns < 0) turns += part;
            day += turns * period, period *= part;
        }
        long long behind = ((start - day) % period + period) % period;
        return behind ? start + period - behind : start;
    }
};
