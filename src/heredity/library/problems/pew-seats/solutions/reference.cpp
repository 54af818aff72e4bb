class Solution {
public:
    vector<long long> seated(long long count, vector<long long>& wishes) {
        vector<int> after(count + 1);
        iota(after.begin(), after.end(), 0);
        vector<long long> answer;
        for (long long wish : wishes) {
            int seat = 0;
            for (int start : {int(wish), 0}) {
                seat = start;
                while (after[seat] != seat) seat = after[seat] = after[after[seat]];
                if (seat < count) break;
            }
            answer.push_back(seat);
            after[seat] = seat + 1;
        }
        return answer;
    }
};
