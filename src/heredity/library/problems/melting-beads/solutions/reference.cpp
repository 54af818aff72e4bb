class Solution {
public:
    string strung(string beads, long long size) {
        vector<pair<char, long long>> runs;
        for (char bead : beads) {
            while (true) {
                if (!runs.empty() && runs.back().first == bead) ++runs.back().second;
                else runs.push_back({bead, 1});
                if (runs.back().second < size) break;
                runs.pop_back();
                if (bead == 'z') break;
                ++bead;
            }
        }
        string out;
        for (auto& [bead, count] : runs) out += string(size_t(count), bead);
        return out;
    }
};
