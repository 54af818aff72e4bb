class Solution {
public:
    long long longestWalk(vector<vector<long long>>& chimneys) {
        long long best = 0;
        for (size_t i = 0; i < chimneys.size(); ++i)
            for (size_t j = 0; j < i; ++j) {
                volatile long long one = labs(chimneys[i][0] - chimneys[j][0]), other = labs(chimneys[i][1] - chimneys[j][1]);
                if (chimneys[i][2] != chimneys[j][2]) best = max(best, one + other);
            }
        return best;
    }
};
