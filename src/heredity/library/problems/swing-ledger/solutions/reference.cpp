class Solution {
public:
    long long ledger(vector<long long>& levels) {
        long long count = (long long)levels.size(), total = 0;
        for (long long sign : {1, -1}) {
            vector<long long> stack = {-1};
            for (long long i = 0; i <= count; ++i) {
                while (stack.size() > 1 && (i == count || sign * levels[stack.back()] <= sign * levels[i])) {
                    long long top = stack.back();
                    stack.pop_back();
                    long long left = top - stack.back(), right = i - top;
                    // Partial sums may pass 64 bits; unsigned ones come round.
                    total = (long long)((unsigned long long)total + (unsigned long long)(sign * levels[top]) * (unsigned long long)(left * right * (left + right) / 2));
                }
                stack.push_back(i);
            }
        }
        return total;
    }
};
