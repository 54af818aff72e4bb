class Solution {
public:
    long long fewestPiles(vector<long long>& sizes, long long gap) {
        sort(sizes.begin(), sizes.end());
        size_t inside = 0;
        for (size_t outer = (sizes.size() + 1) / 2; outer < sizes.size(); ++outer) inside += sizes[inside] + gap <= sizes[outer];
        return sizes.size() - inside;
    }
};
