class Solution {
    fun longest(heights: Array<LongArray>, leap: Long): Long {
        val rows = heights.size
        val columns = heights[0].size
        val order = LongArray(rows * columns) { (heights[it / columns][it % columns] shl 16) or it.toLong() }
        order.sort()
        val stands = IntArray(rows * columns)
        for (code in order) {
            val rock = (code and 0xFFFF).toInt()
            val height = code shr 16
            var best = 0
            fun from(near: Int) {
                val rise = height - heights[near / columns][near % columns]
                if (rise in 1..leap) best = maxOf(best, stands[near])
            }
            if (rock % columns > 0) from(rock - 1)
            if ((rock + 1) % columns > 0) from(rock + 1)
            if (rock >= columns) from(rock - columns)
            if (rock + columns < rows * columns) from(rock + columns)
            stands[rock] = best + 1
        }
        return stands.max().toLong()
    }
}
