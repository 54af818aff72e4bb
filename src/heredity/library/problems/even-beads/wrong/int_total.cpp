class Solution {
public:
    long long evenStretches(vector<long long>& beads) {
        mt19937_64 draw(random_device{}());
        unordered_map<long long, unsigned long long> kinds;
        unordered_map<unsigned long long, unsigned> seen{{0, 1}};
        unsigned long long state = 0;
        unsigned total = 0;
        for (long long bead : beads) {
            if (!kinds.count(bead)) kinds[bead] = draw();
            state ^= kinds[bead];
            total += seen[state]++;
        }
        return int(total);
    }
};
