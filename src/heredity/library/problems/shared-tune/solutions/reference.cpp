class Solution {
public:
    long long bestTune(string first, string second) {
        size_t m = second.size();
        vector<int> best(m + 1), ended(m + 1, -9);
        for (char note : first) {
            vector<int> row(m + 1), ends(m + 1, -9);
            for (size_t j = 0; j < m; ++j) {
                row[j + 1] = max(row[j], best[j + 1]);
                if (second[j] == note) {
                    ends[j + 1] = max(best[j] + 1, ended[j] + 2);
                    row[j + 1] = max(row[j + 1], ends[j + 1]);
                }
            }
            best.swap(row), ended.swap(ends);
        }
        return best[m];
    }
};
