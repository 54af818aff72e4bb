class Solution {
public:
    long long takings(vector<long long>& places, long long stalls) {
        int n = places.size();
        const int none = -2000000000;
        vector<vector<int>> best(2, vector<int>(stalls + 1, none)), older = best;
        vector<int> last(stalls + 1, none), before(stalls + 1, none);
        last[0] = before[0] = 0;
        for (int i = 0; i < n; ++i) {
            vector<int> now = last;
            for (int k = 1; k <= stalls; ++k)
                if (before[k - 1] != none) now[k] = max(now[k], int((unsigned)before[k - 1] + (unsigned)places[i]));
            before = last;
            last = now;
        }
        return last[stalls];
    }
};
