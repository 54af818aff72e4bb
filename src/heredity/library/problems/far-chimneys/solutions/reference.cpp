class Solution {
public:
    long long longestWalk(vector<vector<long long>>& chimneys) {
        long long best = 0;
        for (int sign : {1, -1}) {
            long long most[2] = {LLONG_MIN / 4, LLONG_MIN / 4}, least[2] = {LLONG_MAX / 4, LLONG_MAX / 4};
            for (auto& one : chimneys) {
                long long sum = one[0] + sign * one[1];
                most[one[2]] = max(most[one[2]], sum), least[one[2]] = min(least[one[2]], sum);
            }
            best = max({best, most[0] - least[1], most[1] - least[0]});
        }
        return best;
    }
};
