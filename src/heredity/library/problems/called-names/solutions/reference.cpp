class Solution {
public:
    vector<long long> answering(vector<string>& names, vector<string>& calls) {
        sort(names.begin(), names.end());
        vector<long long> found;
        for (auto& call : calls) {
            auto low = lower_bound(names.begin(), names.end(), call);
            auto high = lower_bound(names.begin(), names.end(), call + "~");
            found.push_back(high - low);
        }
        return found;
    }
};
