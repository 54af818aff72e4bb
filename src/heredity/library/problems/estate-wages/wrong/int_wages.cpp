class Solution {
public:
    vector<long long> paid(vector<long long>& above, vector<vector<long long>>& orders) {
        int count = int(above.size());
        vector<int> size(count, 1), change(count), total(count);
        for (int i = count - 1; i > 0; --i) size[above[i]] += size[i];
        vector<long long> answers;
        for (auto& order : orders) {
            int i = int(order[1]), x = int(order[2]);
            if (order[0] == 0) {
                change[i] += x;
                unsigned more = unsigned(x) * unsigned(size[i]);
                for (int j = i; j >= 0; j = int(above[j])) total[j] = int(unsigned(total[j]) + more);
            } else {
                unsigned sum = unsigned(total[i]);
                for (int j = int(above[i]); j >= 0; j = int(above[j])) sum += unsigned(change[j]) * unsigned(size[i]);
                answers.push_back(int(sum));
            }
        }
        return answers;
    }
};
