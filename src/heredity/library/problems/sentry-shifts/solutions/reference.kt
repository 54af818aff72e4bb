class Solution {
    fun leastCost(pay: Array<LongArray>, quarrel: Array<LongArray>): Long {
        val n = pay.size
        val best = Array(1 shl n) { LongArray(n) { 1L shl 60 } }
        for (i in 0 until n) best[1 shl i][i] = pay[i][0]
        for (used in 1 until (1 shl n)) {
            val post = Integer.bitCount(used)
            for (i in 0 until n) if (used shr i and 1 == 1)
                for (j in 0 until n) if (used shr j and 1 == 0) {
                    val next = best[used or (1 shl j)]
                    next[j] = minOf(next[j], best[used][i] + pay[j][post] + quarrel[i][j])
                }
        }
        var least = 1L shl 60
        for (cost in best[(1 shl n) - 1]) least = minOf(least, cost)
        return least
    }
}
