class Solution {
public:
    vector<long long> twoGates(vector<long long>& tolls, long long purse) {
        unordered_map<long long, vector<int>> places;
        for (int i = int(tolls.size()) - 1; i >= 0; --i) places[tolls[i]].push_back(i);
        for (int i = 0; i < int(tolls.size()); ++i) {
            places[tolls[i]].pop_back();
            auto found = places.find(purse - tolls[i]);
            if (found != places.end() && !found->second.empty()) return {i, found->second.back()};
        }
        return {-1, -1};
    }
};
