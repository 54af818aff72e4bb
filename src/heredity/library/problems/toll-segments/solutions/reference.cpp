class Solution {
public:
    long long payable(vector<long long>& tolls, long long coin, long long least) {
        size_t count = tolls.size();
        vector<long long> rests(count + 1);
        for (size_t i = 0; i < count; ++i) rests[i + 1] = ((rests[i] + tolls[i]) % coin + coin) % coin;
        unordered_map<long long, long long> seen;
        long long answer = 0;
        for (size_t stop = size_t(least); stop <= count; ++stop) {
            ++seen[rests[stop - least]];
            answer += seen[rests[stop]];
        }
        return answer;
    }
};
