vector<int> above;
int find(int x) {
    while (above[x] != x) x = above[x] = above[above[x]];
    return x;
}

class Solution {
public:
    long long climb(vector<vector<long long>>& heights) {
        int rows = int(heights.size()), columns = int(heights[0].size()), size = rows * columns;
        vector<tuple<long long, int, int>> planks;
        for (int r = 0; r < rows; ++r)
            for (int c = 0; c < columns; ++c) {
                int at = r * columns + c;
                if (c + 1 < columns) planks.emplace_back(llabs(heights[r][c] - heights[r][c + 1]), at, at + 1);
                if (r + 1 < rows) planks.emplace_back(llabs(heights[r][c] - heights[r + 1][c]), at, at + columns);
            }
        sort(planks.begin(), planks.end());
        above.resize(size + 2);
        iota(above.begin(), above.end(), 0);
        for (int r = 0; r < rows; ++r) {
            above[find(r * columns)] = find(size);
            above[find(r * columns + columns - 1)] = find(size + 1);
        }
        if (find(size) == find(size + 1)) return 0;
        for (auto [high, a, b] : planks) {
            above[find(a)] = find(b);
            if (find(size) == find(size + 1)) return high;
        }
        return 0;
    }
};
