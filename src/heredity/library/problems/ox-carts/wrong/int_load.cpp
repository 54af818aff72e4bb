class Solution {
public:
    long long fewestCarts(vector<long long>& weights, long long load, vector<vector<long long>>& feuds) {
        int n = weights.size(), size = 1 << n;
        vector<char> fits(size, 1);
        vector<int> carts(size, n);
        for (int group = 1; group < size; ++group) {
            int total = 0;
            for (int i = 0; i < n; ++i)
                if (group >> i & 1) total = int(unsigned(total) + unsigned(weights[i]));
            fits[group] = total <= int(load);
            for (auto& feud : feuds)
                if (group >> feud[0] & 1 && group >> feud[1] & 1) fits[group] = 0;
        }
        carts[0] = 0;
        for (int group = 1; group < size; ++group)
            for (int part = group; part; part = (part - 1) & group)
                if (fits[part]) carts[group] = min(carts[group], carts[group ^ part] + 1);
        return carts[size - 1];
    }
};
