class Solution {
public:
    long long leftover(vector<long long>& sold, long long place) {
        sort(sold.begin(), sold.end());
        long long last = 0;
        for (long long number : sold) {
            if (number == last) continue;
            if (number > place) break;
            ++place;
            last = number;
        }
        return place;
    }
};
