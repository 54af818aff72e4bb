class Solution {
public:
    long long ledger(vector<long long>& levels) {
        int count = int(levels.size());
        long long total = 0;
        for (int sign : {1, -1}) {
            vector<int> stack = {-1};
            for (int i = 0; i <= count; ++i) {
                while (stack.size() > 1 && (i == count || sign * levels[stack.back()] <= sign * levels[i])) {
                    int top = stack.back();
                    stack.pop_back();
                    unsigned left = unsigned(top - stack.back()), right = unsigned(i - top);
                    total += sign * levels[top] * (long long)(left * right * (left + right) / 2);
                }
                stack.push_back(i);
            }
        }
        return total;
    }
};
