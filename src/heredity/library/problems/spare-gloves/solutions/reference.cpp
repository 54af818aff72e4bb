class Solution {
public:
    vector<long long> spareGloves(vector<long long>& tags) {
        long long both = 0, one = 0;
        for (long long tag : tags) both ^= tag;
        long long bit = both & -both;
        for (long long tag : tags)
            if (tag & bit) one ^= tag;
        return {min(one, one ^ both), max(one, one ^ both)};
    }
};
