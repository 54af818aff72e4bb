class Solution {
public:
    vector<long long> halving(long long count, vector<vector<long long>>& roads, long long least) {
        vector<vector<pair<int, int>>> around(count);
        for (size_t i = 0; i < roads.size(); ++i) {
            around[roads[i][0]].push_back({int(roads[i][1]), int(i)});
            around[roads[i][1]].push_back({int(roads[i][0]), int(i)});
        }
        vector<int> first(count), low(count), size(count, 1), came(count, -1), stack{0};
        vector<size_t> at(count);
        vector<long long> answer;
        int time = 1;
        first[0] = low[0] = 1;
        while (!stack.empty()) {
            int one = stack.back();
            if (at[one] < around[one].size()) {
                auto [other, number] = around[one][at[one]++];
                if (number == came[one]) continue;
                if (first[other]) {
                    low[one] = min(low[one], first[other]);
                } else {
                    first[other] = low[other] = ++time;
                    came[other] = number;
                    stack.push_back(other);
                }
                continue;
            }
            stack.pop_back();
            if (!stack.empty()) {
                int up = stack.back();
                low[up] = min(low[up], low[one]);
                size[up] += size[one];
                if (low[one] == first[one] && size[one] >= least && count - size[one] >= least) answer.push_back(came[one]);
            }
        }
        sort(answer.begin(), answer.end());
        return answer;
    }
};
