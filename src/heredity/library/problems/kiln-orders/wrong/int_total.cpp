class Solution {
public:
    vector<long long> fired(vector<vector<long long>>& orders) {
        sort(orders.begin(), orders.end(), [](auto& a, auto& b) { return a[1] < b[1]; });
        priority_queue<int> heap;
        unsigned total = 0;
        for (auto& order : orders) {
            heap.push(order[0]);
            total += order[0];
            if ((int)total > order[1]) {
                total -= heap.top();
                heap.pop();
            }
        }
        return {(long long)heap.size(), (long long)(int)total};
    }
};
