class Solution {
public:
    long long winningHeaps(long long most, vector<long long>& handfuls) {
        vector<char> wins(most + 1);
        for (long long heap = 0; heap <= most; ++heap)
            if (!wins[heap])
                for (long long handful : handfuls)
                    if (heap + handful <= most) wins[heap + handful] = 1;
        return accumulate(wins.begin(), wins.end(), 0LL);
    }
};
