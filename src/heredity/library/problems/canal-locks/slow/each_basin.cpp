class Solution {
public:
    long long routes(long long rows, long long columns, vector<vector<long long>>& closed) {
        vector<int> ways(columns);
        ways[0] = 1;
        map<int, vector<int>> shut;
        for (auto& basin : closed) shut[basin[0]].push_back(basin[1]);
        for (int row = 0; row < rows; ++row) {
            vector<char> bad(columns);
            if (shut.count(row))
                for (int column : shut[row]) bad[column] = 1;
            for (int column = 0; column < columns; ++column) {
                long long before = column ? ways[column - 1] : 0;
                ways[column] = bad[column] ? 0 : int((ways[column] + before) % 1000000007);
            }
        }
        return ways[columns - 1];
    }
};
