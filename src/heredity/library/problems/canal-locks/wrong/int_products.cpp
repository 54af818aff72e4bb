class Solution {
public:
    long long routes(long long rows, long long columns, vector<vector<long long>>& closed) {
        const unsigned modulus = 1000000007;
        vector<vector<unsigned>> ways;
        if (rows * columns > 4000000) return 0;
        ways.assign(rows, vector<unsigned>(columns));
        vector<vector<char>> shut(rows, vector<char>(columns));
        for (auto& basin : closed) shut[basin[0]][basin[1]] = 1;
        ways[0][0] = 1;
        for (int r = 0; r < rows; ++r)
            for (int c = 0; c < columns; ++c)
                if (shut[r][c]) ways[r][c] = 0;
                else ways[r][c] += ((r ? ways[r - 1][c] : 0) + (c ? ways[r][c - 1] : 0)) % modulus;
        return ways[rows - 1][columns - 1];
    }
};
