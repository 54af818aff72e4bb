class Solution {
public:
    long long evenStretches(vector<long long>& beads) {
        mt19937_64 draw(random_device{}());
        unordered_map<long long, unsigned long long> kinds;
        unordered_map<unsigned long long, long long> seen{{0, 1}};
        unsigned long long state = 0;
        long long total = 0;
        for (long long bead : beads) {
            if (!kinds.count(bead)) kinds[bead] = draw();
            state ^= kinds[bead];
            total += seen[state]++;
        }
        return total;
    }
};
