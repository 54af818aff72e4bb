class Solution {
    vector<int> above;
    int find(int x) {
        while (above[x] != x) x = above[x] = above[above[x]];
        return x;
    }

public:
    long long lie(long long count, vector<vector<long long>>& sayings) {
        int n = int(count);
        above.resize(2 * n);
        iota(above.begin(), above.end(), 0);
        for (size_t i = 0; i < sayings.size(); ++i) {
            int a = int(sayings[i][0]), b = int(sayings[i][1]), turn = sayings[i][2] ? n : 0;
            above[find(a)] = find((b + turn) % (2 * n));
            above[find(a + n)] = find((b + n + turn) % (2 * n));
            if (find(a) == find(a + n)) return (long long)i;
        }
        return -1;
    }
};
