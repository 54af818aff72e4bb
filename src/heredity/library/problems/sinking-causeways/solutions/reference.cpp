class Solution {
    vector<int> above, size;
    int find(int x) {
        while (above[x] != x) x = above[x] = above[above[x]];
        return x;
    }
    void join(const vector<long long>& ends) {
        int a = find(int(ends[0])), b = find(int(ends[1]));
        if (a == b) return;
        if (size[a] < size[b]) swap(a, b);
        above[b] = a;
        size[a] += size[b];
    }

public:
    vector<long long> reachable(long long count, vector<vector<long long>>& causeways, vector<vector<long long>>& events) {
        above.resize(count);
        iota(above.begin(), above.end(), 0);
        size.assign(count, 1);
        vector<char> sunk(causeways.size()), first(events.size());
        for (size_t t = 0; t < events.size(); ++t)
            if (!events[t][0]) first[t] = !sunk[events[t][1]], sunk[events[t][1]] = 1;
        for (size_t i = 0; i < causeways.size(); ++i)
            if (!sunk[i]) join(causeways[i]);
        vector<long long> answers;
        for (size_t t = events.size(); t-- > 0;) {
            if (events[t][0])
                answers.push_back(size[find(int(events[t][1]))]);
            else if (first[t])
                join(causeways[events[t][1]]);
        }
        reverse(answers.begin(), answers.end());
        return answers;
    }
};
