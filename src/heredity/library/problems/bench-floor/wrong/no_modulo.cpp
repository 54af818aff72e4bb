class Solution {
public:
    long long furnishings(long long rows, long long columns, vector<vector<long long>>& pillars, long long stools) {
        set<pair<int, int>> closed;
        for (auto& one : pillars) closed.insert({int(one[0]), int(one[1])});
        vector<vector<unsigned>> ways(stools + 1, vector<unsigned>(1 << rows));
        ways[0][0] = 1;
        for (int column = 0; column < columns; ++column)
            for (int row = 0; row < rows; ++row) {
                vector<vector<unsigned>> next(stools + 1, vector<unsigned>(1 << rows));
                bool pillar = closed.count({row, column});
                for (int used = 0; used <= stools; ++used)
                    for (int mask = 0; mask < 1 << rows; ++mask) {
                        unsigned count = ways[used][mask];
                        if (mask >> row & 1) {
                            if (!pillar) next[used][mask ^ 1 << row] += count;
                        } else if (pillar) next[used][mask] += count;
                        else {
                            if (column + 1 < columns) next[used][mask | 1 << row] += count;
                            if (row + 1 < rows && !(mask >> (row + 1) & 1)) next[used][mask | 2 << row] += count;
                            if (used < stools) next[used + 1][mask] += count;
                        }
                    }
                ways.swap(next);
            }
        return ways[stools][0] % 1000000007;
    }
};
