class Solution {
public:
    long long missing(long long count, vector<vector<long long>>& streets) {
        vector<vector<int>> ahead(count);
        for (auto& s : streets) ahead[s[0]].push_back(int(s[1]));
        vector<int> low(count), first(count), part(count, -1), stack;
        vector<size_t> at(count);
        int number = 0, parts = 0;
        for (int start = 0; start < count; ++start) {
            if (first[start]) continue;
            vector<int> way{start};
            first[start] = low[start] = ++number;
            stack.push_back(start);
            while (!way.empty()) {
                int one = way.back();
                if (at[one] < ahead[one].size()) {
                    int other = ahead[one][at[one]++];
                    if (!first[other]) {
                        first[other] = low[other] = ++number;
                        way.push_back(other);
                        stack.push_back(other);
                    } else if (part[other] < 0) {
                        low[one] = min(low[one], low[other]);
                    }
                    continue;
                }
                way.pop_back();
                if (!way.empty()) low[way.back()] = min(low[way.back()], low[one]);
                if (low[one] == first[one]) {
                    while (part[one] < 0) {
                        part[stack.back()] = parts;
                        stack.pop_back();
                    }
                    ++parts;
                }
            }
        }
        if (parts == 1) return 0;
        vector<char> in(parts), out(parts);
        for (auto& s : streets)
            if (part[s[0]] != part[s[1]]) out[part[s[0]]] = in[part[s[1]]] = 1;
        return max(count_if(in.begin(), in.end(), [](char x) { return !x; }), count_if(out.begin(), out.end(), [](char x) { return !x; }));
    }
};
