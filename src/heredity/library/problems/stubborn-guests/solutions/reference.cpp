class Solution {
public:
    vector<bool> lit(long long lamps, vector<vector<long long>>& wishes) {
        int n = int(lamps), size = 2 * n + 1;
        vector<vector<int>> then(size);
        for (auto& two : wishes) {
            then[n - two[0]].push_back(int(n + two[1]));
            then[n - two[1]].push_back(int(n + two[0]));
        }
        vector<int> number(size), low(size), group(size), next(size), pending, trail;
        int count = 0, groups = 0;
        for (int root = 0; root < size; ++root) {
            if (root == n || number[root]) continue;
            trail.push_back(root);
            while (!trail.empty()) {
                int here = trail.back();
                if (!number[here]) number[here] = low[here] = ++count, pending.push_back(here);
                if (next[here] < int(then[here].size())) {
                    int there = then[here][next[here]++];
                    if (!number[there]) trail.push_back(there);
                    else if (!group[there]) low[here] = min(low[here], number[there]);
                    continue;
                }
                trail.pop_back();
                if (!trail.empty()) low[trail.back()] = min(low[trail.back()], low[here]);
                if (low[here] != number[here]) continue;
                ++groups;
                while (!group[here]) group[pending.back()] = groups, pending.pop_back();
            }
        }
        vector<bool> light;
        for (int lamp = 1; lamp <= n; ++lamp) {
            if (group[n + lamp] == group[n - lamp]) return {};
            light.push_back(group[n + lamp] < group[n - lamp]);
        }
        return light;
    }
};
