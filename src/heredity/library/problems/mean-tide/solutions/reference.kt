class Solution {
    fun highestMean(levels: DoubleArray, hours: Long): Double {
        var total = 0.0
        var best = Double.NEGATIVE_INFINITY
        for (i in levels.indices) {
            total += levels[i]
            if (i >= hours) total -= levels[i - hours.toInt()]
            if (i + 1 >= hours) best = maxOf(best, total / hours)
        }
        return best
    }
}
