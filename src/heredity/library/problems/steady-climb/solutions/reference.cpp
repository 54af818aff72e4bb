class Solution {
public:
    vector<long long> steadiest(vector<long long>& heights, long long sway) {
        deque<size_t> low, high;
        size_t start = 0;
        vector<long long> best = {0, 0};
        for (size_t i = 0; i < heights.size(); ++i) {
            while (!low.empty() && heights[low.back()] >= heights[i]) low.pop_back();
            while (!high.empty() && heights[high.back()] <= heights[i]) high.pop_back();
            low.push_back(i);
            high.push_back(i);
            while (heights[high.front()] - heights[low.front()] > sway) {
                start = min(low.front(), high.front()) + 1;
                if (low.front() < start) low.pop_front();
                if (high.front() < start) high.pop_front();
            }
            if ((long long)(i + 1 - start) > best[1]) best = {(long long)start, (long long)(i + 1 - start)};
        }
        return best;
    }
};
