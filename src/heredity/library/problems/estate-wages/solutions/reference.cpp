class Solution {
public:
    vector<long long> paid(vector<long long>& above, vector<vector<long long>>& orders) {
        int count = int(above.size());
        vector<int> size(count, 1), begin(count, 0), next(count, 1);
        for (int i = count - 1; i > 0; --i) size[above[i]] += size[i];
        for (int i = 1; i < count; ++i) {
            begin[i] = next[above[i]];
            next[above[i]] += size[i];
            next[i] = begin[i] + 1;
        }
        vector<long long> steps(count + 2), moments(count + 2), answers;
        auto add = [&](int place, long long value) {
            for (int at = place + 1; at <= count; at += at & -at) {
                steps[at] += value;
                moments[at] += value * place;
            }
        };
        auto upto = [&](int place) {
            long long step = 0, moment = 0;
            for (int at = place; at; at &= at - 1) step += steps[at], moment += moments[at];
            return step * place - moment;
        };
        for (auto& order : orders) {
            int low = begin[order[1]], high = low + size[order[1]];
            if (order[0]) {
                answers.push_back(upto(high) - upto(low));
            } else {
                add(low, order[2]);
                add(high, -order[2]);
            }
        }
        return answers;
    }
};
