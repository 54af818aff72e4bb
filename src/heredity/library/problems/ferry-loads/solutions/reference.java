class Solution {
    public long smallestFerry(long[] carts, long trips) {
        long low = Arrays.stream(carts).max().getAsLong(), high = Arrays.stream(carts).sum();
        while (low < high) {
            long middle = low + (high - low) / 2, load = 0, needed = 1;
            for (long cart : carts) {
                load += cart;
                if (load > middle) {
                    needed++;
                    load = cart;
                }
            }
            if (needed <= trips) high = middle;
            else low = middle + 1;
        }
        return low;
    }
}
