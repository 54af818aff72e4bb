class Solution {
public:
    vector<string> lineUp(vector<string>& names, vector<long long>& heights) {
        vector<int> order(names.size());
        iota(order.begin(), order.end(), 0);
        sort(order.begin(), order.end(), [&](int a, int b) {
            return heights[a] != heights[b] ? heights[a] > heights[b] : names[a] < names[b];
        });
        deque<string> row;
        for (int singer : order) {
            if (row.size() % 2) row.push_front(names[singer]);
            else row.push_back(names[singer]);
        }
        return vector<string>(row.begin(), row.end());
    }
};
