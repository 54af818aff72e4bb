class Solution {
public:
    vector<long long> firstHuts(vector<long long>& heights) {
        int n = heights.size();
        vector<pair<long long, int>> best(n + 1, {LLONG_MIN, 0});
        vector<int> stack = {-1};
        for (int i = 0; i <= n; ++i) {
            long long height = i < n ? heights[i] : LLONG_MIN;
            while (stack.size() > 1 && heights[stack.back()] >= height) {
                long long lowest = heights[stack.back()];
                stack.pop_back();
                int start = stack.back() + 1;
                best[i - start] = max(best[i - start], {lowest, -start});
            }
            stack.push_back(i);
        }
        for (int k = n - 1; k > 0; --k) best[k] = max(best[k], best[k + 1]);
        vector<long long> out;
        for (int k = 1; k <= n; ++k) out.push_back(-best[k].second);
        return out;
    }
};
