class Solution {
public:
    long long longestWalk(vector<vector<long long>>& chimneys) {
        int best = 0;
        for (int sign : {1, -1}) {
            int most[2] = {INT_MIN, INT_MIN}, least[2] = {INT_MAX, INT_MAX};
            for (auto& one : chimneys) {
                int sum = int(one[0] + sign * one[1]), owner = int(one[2]);
                most[owner] = max(most[owner], sum), least[owner] = min(least[owner], sum);
            }
            best = max({best, int(unsigned(most[0]) - unsigned(least[1])), int(unsigned(most[1]) - unsigned(least[0]))});
        }
        return best;
    }
};
