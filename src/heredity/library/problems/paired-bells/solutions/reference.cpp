class Solution {
public:
    long long kthGap(vector<long long>& high, vector<long long>& low, long long rank) {
        sort(low.begin(), low.end());
        long long least = 0, most = 1000000000000;
        while (least < most) {
            long long middle = (least + most) / 2, count = 0;
            for (long long bell : high)
                count += upper_bound(low.begin(), low.end(), bell + middle) - lower_bound(low.begin(), low.end(), bell - middle);
            if (count >= rank) most = middle;
            else least = middle + 1;
        }
        return least;
    }
};
