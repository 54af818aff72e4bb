class Solution {
public:
    long long smallestFerry(vector<long long>& carts, long long trips) {
        long long low = *max_element(carts.begin(), carts.end()), high = accumulate(carts.begin(), carts.end(), 0LL);
        while (low < high) {
            long long middle = low + (high - low) / 2, load = 0, needed = 1;
            for (long long cart : carts) {
                load += cart;
                if (load > middle) ++needed, load = cart;
            }
            if (needed <= trips) high = middle; else low = middle + 1;
        }
        return low;
    }
};
