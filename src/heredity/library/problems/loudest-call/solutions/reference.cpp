class Solution {
public:
    string loudest(vector<string>& calls) {
        unordered_map<string, int> heard;
        string best;
        int most = 0;
        for (const string& call : calls) {
            int times = ++heard[call];
            if (times > most) {
                most = times;
                best = call;
            }
        }
        return best;
    }
};
