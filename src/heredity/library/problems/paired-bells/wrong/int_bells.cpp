class Solution {
public:
    long long kthGap(vector<long long>& high, vector<long long>& low, long long rank) {
        vector<int> lower(low.begin(), low.end());
        sort(lower.begin(), lower.end());
        int least = 0, most = 1000000000;
        while (least < most) {
            int middle = (least + most) / 2;
            long long count = 0;
            for (long long one : high) {
                int bell = int(one);
                count += upper_bound(lower.begin(), lower.end(), bell + (long long)middle) - lower_bound(lower.begin(), lower.end(), bell - (long long)middle);
            }
            if (count >= rank) most = middle;
            else least = middle + 1;
        }
        return least;
    }
};
