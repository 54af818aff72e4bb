class Solution {
public:
    vector<long long> steadiest(vector<long long>& heights, long long sway) {
        multiset<long long> window;
        vector<long long> best = {0, 0};
        size_t start = 0;
        for (size_t i = 0; i < heights.size(); ++i) {
            window.insert(heights[i]);
            while (int((unsigned)*window.rbegin() - (unsigned)*window.begin()) > int(sway)) window.erase(window.find(heights[start++]));
            if ((long long)(i + 1 - start) > best[1]) best = {(long long)start, (long long)(i + 1 - start)};
        }
        return best;
    }
};
