class Solution {
    fun smallestFerry(carts: LongArray, trips: Long): Long {
        var low = carts.max()
        var high = carts.sum()
        while (low < high) {
            val middle = low + (high - low) / 2
            var needed = 1L
            var load = 0L
            for (cart in carts) {
                load += cart
                if (load > middle) {
                    needed++
                    load = cart
                }
            }
            if (needed <= trips) high = middle else low = middle + 1
        }
        return low
    }
}
