class Solution {
public:
    vector<long long> farthest(vector<vector<long long>>& roads, vector<long long>& inns) {
        int count = int(roads.size()) + 1;
        vector<vector<pair<int, int>>> around(count);
        for (auto& r : roads) {
            around[r[0]].push_back({int(r[1]), int(r[2])});
            around[r[1]].push_back({int(r[0]), int(r[2])});
        }
        auto distances = [&](int start) {
            vector<unsigned> far(count);
            vector<char> seen(count);
            vector<int> stack{start};
            seen[start] = 1;
            while (!stack.empty()) {
                int at = stack.back();
                stack.pop_back();
                for (auto [other, minutes] : around[at])
                    if (!seen[other]) {
                        seen[other] = 1;
                        far[other] = far[at] + unsigned(minutes);
                        stack.push_back(other);
                    }
            }
            return vector<int>(far.begin(), far.end());
        };
        auto farthest_of = [&](const vector<int>& far) {
            int best = int(inns[0]);
            for (long long inn : inns)
                if (far[inn] > far[best]) best = int(inn);
            return best;
        };
        auto one = distances(farthest_of(distances(int(inns[0]))));
        auto other = distances(farthest_of(one));
        vector<long long> answer(count);
        for (int i = 0; i < count; ++i) answer[i] = max(one[i], other[i]);
        return answer;
    }
};
