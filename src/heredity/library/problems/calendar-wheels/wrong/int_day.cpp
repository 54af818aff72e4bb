class Solution {
    static long long inverse(long long a, long long m, long long& x, long long& y) {
        if (!m) return x = 1, y = 0, a;
        long long g = inverse(m, a % m, y, x);
        return y -= a / m * x, g;
    }
public:
    long long nextFeast(vector<vector<long long>>& wheels, long long start) {
        int day = 0;
        long long period = 1;
        for (auto& wheel : wheels) {
            long long teeth = wheel[0], x, y, g = inverse(period, teeth, x, y);
            if ((wheel[1] - day) % g) return -1;
            long long turns = (long long)((unsigned long long)((wheel[1] - day) / g) * (unsigned long long)x) % (teeth / g);
            day = int(day + turns * period), period *= teeth / g;
            day = int((day % period + period) % period);
        }
        return day >= start ? day : day + (start - day + period - 1) / period * period;
    }
};
