class Solution {
public:
    long long blends(vector<long long>& signals) {
        long long total = 0;
        for (int lamp = 0; lamp < 30; ++lamp) {
            long long last = 0;
            for (size_t i = 0; i < signals.size(); ++i) {
                if (signals[i] >> lamp & 1) last = i + 1;
                total += last << lamp;
            }
        }
        return total;
    }
};
