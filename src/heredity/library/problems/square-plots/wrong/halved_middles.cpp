class Solution {
public:
    long long plots(vector<vector<long long>>& posts) {
        map<array<long long, 3>, long long> diagonals;
        for (size_t i = 0; i < posts.size(); ++i)
            for (size_t j = 0; j < i; ++j) {
                long long x = posts[i][0] - posts[j][0], y = posts[i][1] - posts[j][1];
                ++diagonals[{(posts[i][0] + posts[j][0]) / 2, (posts[i][1] + posts[j][1]) / 2, x * x + y * y}];
            }
        long long found = 0;
        for (auto& [key, many] : diagonals) found += many * (many - 1) / 2;
        return found;
    }
};
