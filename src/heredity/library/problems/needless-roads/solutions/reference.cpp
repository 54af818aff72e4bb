class Solution {
public:
    vector<long long> needless(long long count, vector<vector<long long>>& roads) {
        vector<int> above(count);
        iota(above.begin(), above.end(), 0);
        vector<long long> found;
        auto find = [&](int x) {
            while (above[x] != x) x = above[x] = above[above[x]];
            return x;
        };
        for (size_t i = 0; i < roads.size(); ++i) {
            int a = find(int(roads[i][0])), b = find(int(roads[i][1]));
            if (a == b) found.push_back((long long)i);
            above[a] = b;
        }
        return found;
    }
};
