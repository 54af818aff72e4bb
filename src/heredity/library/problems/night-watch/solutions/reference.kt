class Solution {
    fun unwatched(watches: Array<LongArray>): LongArray {
        watches.sortBy { it[0] }
        var gap = longArrayOf()
        var best = 0L
        var last = watches[0][1]
        for ((start, end) in watches) {
            if (start - last > best) {
                best = start - last
                gap = longArrayOf(last, start)
            }
            last = maxOf(last, end)
        }
        return gap
    }
}
