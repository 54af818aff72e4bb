class Solution {
    fun routes(rows: Long, columns: Long, closed: Array<LongArray>): Long {
        val m = 1_000_000_007L
        val size = (rows + columns).toInt() + 1
        val factorial = LongArray(size) { 1 }
        val inverse = LongArray(size) { 1 }
        for (i in 2 until size) {
            factorial[i] = factorial[i - 1] * i % m
            inverse[i] = (m - m / i) * inverse[(m % i).toInt()] % m
        }
        for (i in 2 until size) inverse[i] = inverse[i] * inverse[i - 1] % m
        fun paths(down: Long, right: Long): Long =
            if (down < 0 || right < 0) 0
            else factorial[(down + right).toInt()] * inverse[down.toInt()] % m * inverse[right.toInt()] % m
        val stops = closed.sortedWith(compareBy({ it[0] }, { it[1] })) + listOf(longArrayOf(rows - 1, columns - 1))
        val ways = LongArray(stops.size)
        for (i in stops.indices) {
            ways[i] = paths(stops[i][0], stops[i][1])
            for (j in 0 until i) ways[i] = (ways[i] + (m - ways[j]) * paths(stops[i][0] - stops[j][0], stops[i][1] - stops[j][1])) % m
        }
        return ways.last()
    }
}
