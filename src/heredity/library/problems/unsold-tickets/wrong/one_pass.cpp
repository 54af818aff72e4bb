class Solution {
public:
    long long leftover(vector<long long>& sold, long long place) {
        set<long long> seen(sold.begin(), sold.end());
        long long below = 0;
        for (long long number : seen) below += number <= place;
        return place + below;
    }
};
