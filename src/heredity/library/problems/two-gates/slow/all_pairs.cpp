class Solution {
public:
    vector<long long> twoGates(vector<long long>& tolls, long long purse) {
        for (size_t i = 0; i < tolls.size(); ++i)
            for (size_t j = i + 1; j < tolls.size(); ++j)
                if (tolls[i] + tolls[j] == purse) return {(long long)i, (long long)j};
        return {-1, -1};
    }
};
