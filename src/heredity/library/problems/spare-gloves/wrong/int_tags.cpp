class Solution {
public:
    vector<long long> spareGloves(vector<long long>& tags) {
        int both = 0;
        for (long long tag : tags) both ^= int(tag);
        int bit = both & -both, one = 0;
        for (long long tag : tags)
            if (int(tag) & bit) one ^= int(tag);
        vector<long long> found{one, one ^ both};
        sort(found.begin(), found.end());
        return found;
    }
};
