class Solution {
public:
    long long takings(vector<long long>& places, long long stalls) {
        auto best = [&](long long fee) {
            pair<long long, int> free = {0, 0}, taken = {-1000000000000000000LL, 0};
            for (long long value : places) {
                pair<long long, int> one = {free.first + value - fee, free.second + 1};
                free = max(free, taken);
                taken = one;
            }
            return max(free, taken);
        };
        long long low = -100000000000000LL, high = 10000000000LL;
        while (high - low > 1) {
            long long fee = (low + high) / 2;
            (best(fee).second >= stalls ? low : high) = fee;
        }
        return best(low).first + low * stalls;
    }
};
