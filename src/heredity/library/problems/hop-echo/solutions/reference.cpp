class Solution {
public:
    vector<long long> heard(long long count, vector<vector<long long>>& calls, vector<long long>& sources, long long hops) {
        vector<vector<int>> near(count);
        for (auto& call : calls) near[call[0]].push_back(int(call[1]));
        vector<char> seen(count);
        vector<long long> wave;
        for (long long a : sources)
            if (!seen[a]) seen[a] = 1, wave.push_back(a);
        while (!wave.empty() && hops-- > 0) {
            vector<long long> after;
            for (long long a : wave)
                for (int b : near[a])
                    if (!seen[b]) seen[b] = 1, after.push_back(b);
            wave.swap(after);
        }
        sort(wave.begin(), wave.end());
        return wave;
    }
};
