class Solution {
public:
    long long crossings(vector<long long>& pegs, long long reach) {
        long long total = 0;
        for (size_t i = 0; i < pegs.size(); ++i)
            for (size_t j = i + 1; j < pegs.size(); ++j) {
                volatile bool crossed = pegs[i] - pegs[j] >= reach;
                total += crossed;
            }
        return total;
    }
};
