class Solution {
public:
    long long plots(vector<vector<long long>>& posts) {
        // Middle and length of each pair; a length squared is at most 8 * 10^18.
        vector<array<long long, 3>> diagonals;
        for (size_t i = 0; i < posts.size(); ++i)
            for (size_t j = 0; j < i; ++j) {
                long long x = posts[i][0] - posts[j][0], y = posts[i][1] - posts[j][1];
                diagonals.push_back({posts[i][0] + posts[j][0], posts[i][1] + posts[j][1], x * x + y * y});
            }
        sort(diagonals.begin(), diagonals.end());
        long long found = 0, many = 0;
        for (size_t i = 1; i < diagonals.size(); ++i) {
            many = diagonals[i] == diagonals[i - 1] ? many + 1 : 0;
            found += many;
        }
        return found;
    }
};
