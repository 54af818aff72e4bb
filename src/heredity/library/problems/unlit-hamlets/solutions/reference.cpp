class Solution {
public:
    long long unlit(long long count, vector<vector<long long>>& tracks, vector<long long>& lamps) {
        vector<vector<int>> near(count);
        for (auto& track : tracks) {
            near[track[0]].push_back(int(track[1]));
            near[track[1]].push_back(int(track[0]));
        }
        vector<char> lit(count);
        vector<int> order;
        for (long long lamp : lamps)
            if (!lit[lamp]) lit[lamp] = 1, order.push_back(int(lamp));
        for (size_t i = 0; i < order.size(); ++i)
            for (int b : near[order[i]])
                if (!lit[b]) lit[b] = 1, order.push_back(b);
        return count - (long long)order.size();
    }
};
