class Solution {
public:
    long long waysUp(long long rungs) {
        vector<int> ways{1, 1, 1, 2};
        while ((long long)ways.size() <= rungs) ways.push_back(int(unsigned(ways[ways.size() - 1]) + unsigned(ways[ways.size() - 4])));
        return ways[rungs] % 1000000007;
    }
};
