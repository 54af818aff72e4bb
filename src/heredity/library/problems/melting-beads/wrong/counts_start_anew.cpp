class Solution {
public:
    string strung(string beads, long long size) {
        string out;
        long long run = 0;
        for (char bead : beads) {
            run = !out.empty() && out.back() == bead ? run + 1 : 1;
            out += bead;
            while (run == size) {
                out.resize(out.size() - size);
                if (bead == 'z') break;
                ++bead;
                run = !out.empty() && out.back() == bead ? 2 : 1;
                out += bead;
            }
        }
        return out;
    }
};
