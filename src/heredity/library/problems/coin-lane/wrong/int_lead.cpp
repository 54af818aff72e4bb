class Solution {
    vector<int> coins;
    map<array<int, 4>, int> known;
    int lead(int start, int end, int mine, int yours) {
        if (start >= end) return 0;
        array<int, 4> key{start, end, mine, yours};
        auto found = known.find(key);
        if (found != known.end()) return found->second;
        auto less = [](int a, int b) { return int(unsigned(a) - unsigned(b)); };
        int best = max(less(coins[start], lead(start + 1, end, yours, mine)), less(coins[end - 1], lead(start, end - 1, yours, mine)));
        if (mine && end - start > 1) {
            best = max(best, less(coins[start] + coins[start + 1], lead(start + 2, end, yours, 0)));
            best = max(best, less(coins[end - 1] + coins[end - 2], lead(start, end - 2, yours, 0)));
        }
        return known[key] = best;
    }
public:
    long long bestLead(vector<long long>& coins) {
        this->coins.assign(coins.begin(), coins.end());
        return lead(0, coins.size(), 1, 1);
    }
};
