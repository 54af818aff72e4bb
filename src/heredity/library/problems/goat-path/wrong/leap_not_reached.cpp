class Solution {
    map<pair<int, int>, int> stands;
    int from(vector<vector<long long>>& heights, long long leap, int row, int column) {
        int& best = stands[{row, column}];
        if (best) return best;
        best = 1;
        const int dr[] = {0, 0, 1, -1}, dc[] = {1, -1, 0, 0};
        for (int way = 0; way < 4; ++way) {
            int r = row + dr[way], c = column + dc[way];
            if (r < 0 || c < 0 || r == int(heights.size()) || c == int(heights[0].size())) continue;
            long long rise = heights[r][c] - heights[row][column];
            if (rise > 0 && rise < leap) best = max(best, 1 + from(heights, leap, r, c));
        }
        return best;
    }

public:
    long long longest(vector<vector<long long>>& heights, long long leap) {
        int best = 0;
        for (int r = 0; r < int(heights.size()); ++r)
            for (int c = 0; c < int(heights[0].size()); ++c) best = max(best, from(heights, leap, r, c));
        return best;
    }
};
