class Solution {
public:
    vector<long long> seated(long long count, vector<long long>& wishes) {
        // Remembers for each seat where the last one who wished for it sat down, but goes round only once.
        vector<long long> next(count), answer;
        vector<char> taken(count);
        iota(next.begin(), next.end(), 0);
        for (long long wish : wishes) {
            long long seat = next[wish];
            while (seat < count && taken[seat]) seat = max(seat + 1, next[seat]);
            if (seat >= count) seat = 0;
            taken[seat] = 1;
            next[wish] = seat;
            answer.push_back(seat);
        }
        return answer;
    }
};
