class Solution {
    int purse(long long top) {
        int total = 0;
        for (long long start = 1; start <= top;) {
            long long times = top / start, stop = top / times;
            auto sum = [](long long n) { return n % 2 ? (n + 1) / 2 : -n / 2; };
            total = int((unsigned)total + (unsigned)times * (unsigned)(sum(stop) - sum(start - 1)));
            start = stop + 1;
        }
        return total;
    }

public:
    long long purse(long long first, long long last) { return purse(last) - purse(first - 1); }
};
