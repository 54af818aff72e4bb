class Solution {
public:
    vector<long long> shortest(vector<long long>& flows, long long goal) {
        vector<int> sums(flows.size() + 1);
        for (size_t i = 0; i < flows.size(); ++i) sums[i + 1] = int((unsigned)sums[i] + (unsigned)flows[i]);
        deque<size_t> starts;
        vector<long long> best;
        for (size_t i = 0; i < sums.size(); ++i) {
            while (!starts.empty() && (long long)sums[i] - sums[starts.front()] >= goal) {
                long long length = (long long)(i - starts.front());
                if (best.empty() || length < best[1]) best = {(long long)starts.front(), length};
                starts.pop_front();
            }
            while (!starts.empty() && sums[starts.back()] >= sums[i]) starts.pop_back();
            starts.push_back(i);
        }
        return best;
    }
};
