class Solution {
    vector<int> above, other;
    int find(int x) {
        while (above[x] != x) x = above[x];
        return x;
    }

public:
    long long lie(long long count, vector<vector<long long>>& sayings) {
        above.resize(count);
        iota(above.begin(), above.end(), 0);
        other.assign(count, 0);
        for (size_t i = 0; i < sayings.size(); ++i) {
            int x = int(sayings[i][0]), y = int(sayings[i][1]), a = find(x), b = find(y), apart = int(sayings[i][2]);
            if (a == b) {
                if ((other[x] ^ other[y]) != apart) return (long long)i;
            } else {
                above[a] = b;
                other[x] = other[y] ^ apart;
            }
        }
        return -1;
    }
};
