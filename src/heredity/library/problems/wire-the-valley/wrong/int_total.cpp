class Solution {
    vector<int> above;
    int find(int x) {
        while (above[x] != x) x = above[x] = above[above[x]];
        return x;
    }

public:
    long long price(long long count, vector<vector<long long>>& wired, vector<vector<long long>>& offers) {
        above.resize(count);
        iota(above.begin(), above.end(), 0);
        for (auto& w : wired) {
            int a = find(int(w[0])), b = find(int(w[1]));
            if (a != b) above[a] = b, --count;
        }
        sort(offers.begin(), offers.end(), [](auto& x, auto& y) { return x[2] < y[2]; });
        unsigned total = 0;
        for (auto& o : offers) {
            int a = find(int(o[0])), b = find(int(o[1]));
            if (a != b || o[2] < 0) total += unsigned(o[2]);
            if (a != b) above[a] = b, --count;
        }
        return count == 1 ? int(total) : -1;
    }
};
