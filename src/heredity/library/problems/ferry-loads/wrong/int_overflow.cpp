class Solution {
public:
    long long smallestFerry(vector<long long>& carts, long long trips) {
        int low = *max_element(carts.begin(), carts.end()), high = accumulate(carts.begin(), carts.end(), 0);
        while (low < high) {
            int middle = low + (high - low) / 2, load = 0;
            long long needed = 1;
            for (int cart : carts) {
                load += cart;
                if (load > middle) ++needed, load = cart;
            }
            if (needed <= trips) high = middle; else low = middle + 1;
        }
        return low;
    }
};
