class Solution {
    fun leastGlue(widths: LongArray): Long {
        val n = widths.size
        val sums = LongArray(n + 1)
        for (i in 0 until n) sums[i + 1] = sums[i] + widths[i]
        val best = Array(n + 1) { LongArray(n + 1) }
        for (i in n - 1 downTo 0)
            for (j in i + 2..n) {
                best[i][j] = Long.MAX_VALUE
                for (k in i + 1 until j)
                    best[i][j] = minOf(best[i][j], best[i][k] + best[k][j] + maxOf(sums[k] - sums[i], sums[j] - sums[k]))
            }
        return best[0][n]
    }
}
