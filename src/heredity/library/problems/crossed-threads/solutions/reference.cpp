class Solution {
public:
    long long crossings(vector<long long>& pegs, long long reach) {
        long long total = 0;
        vector<long long> seen(pegs);
        function<void(int, int)> sorted = [&](int from, int to) {
            if (to - from < 2) return;
            int middle = (from + to) / 2, place = middle;
            sorted(from, middle), sorted(middle, to);
            for (int i = from; i < middle; ++i) {
                while (place < to && seen[place] + reach <= seen[i]) ++place;
                total += place - middle;
            }
            inplace_merge(seen.begin() + from, seen.begin() + middle, seen.begin() + to);
        };
        sorted(0, int(seen.size()));
        return total;
    }
};
