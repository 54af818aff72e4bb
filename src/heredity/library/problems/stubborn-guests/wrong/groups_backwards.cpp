class Solution {
    vector<vector<int>> then;
    vector<int> number, low, group, pending;
    int count = 0, groups = 0;
    void visit(int here) {
        number[here] = low[here] = ++count;
        pending.push_back(here);
        for (int there : then[here]) {
            if (!number[there]) visit(there), low[here] = min(low[here], low[there]);
            else if (!group[there]) low[here] = min(low[here], number[there]);
        }
        if (low[here] != number[here]) return;
        ++groups;
        while (!group[here]) group[pending.back()] = groups, pending.pop_back();
    }

public:
    vector<bool> lit(long long lamps, vector<vector<long long>>& wishes) {
        int n = int(lamps);
        then.resize(2 * n + 1), number.resize(2 * n + 1), low.resize(2 * n + 1), group.resize(2 * n + 1);
        for (auto& two : wishes) {
            then[n - two[0]].push_back(int(n + two[1]));
            then[n - two[1]].push_back(int(n + two[0]));
        }
        for (int node = 0; node <= 2 * n; ++node)
            if (node != n && !number[node]) visit(node);
        vector<bool> light;
        for (int lamp = 1; lamp <= n; ++lamp) {
            if (group[n + lamp] == group[n - lamp]) return {};
            light.push_back(group[n + lamp] > group[n - lamp]);
        }
        return light;
    }
};
