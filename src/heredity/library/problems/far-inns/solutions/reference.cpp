class Solution {
public:
    vector<long long> farthest(vector<vector<long long>>& roads, vector<long long>& inns) {
        int count = int(roads.size()) + 1;
        vector<vector<pair<int, long long>>> around(count);
        for (auto& r : roads) {
            around[r[0]].push_back({int(r[1]), r[2]});
            around[r[1]].push_back({int(r[0]), r[2]});
        }
        auto distances = [&](long long start) {
            vector<long long> far(count, -1);
            vector<int> stack{int(start)};
            far[start] = 0;
            while (!stack.empty()) {
                int at = stack.back();
                stack.pop_back();
                for (auto [other, minutes] : around[at])
                    if (far[other] < 0) {
                        far[other] = far[at] + minutes;
                        stack.push_back(other);
                    }
            }
            return far;
        };
        auto farthest_of = [&](const vector<long long>& far) {
            return *max_element(inns.begin(), inns.end(), [&](long long a, long long b) { return far[a] < far[b]; });
        };
        auto one = distances(farthest_of(distances(inns[0])));
        auto other = distances(farthest_of(one));
        for (int i = 0; i < count; ++i) one[i] = max(one[i], other[i]);
        return one;
    }
};
