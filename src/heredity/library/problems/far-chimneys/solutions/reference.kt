class Solution {
    fun longestWalk(chimneys: Array<LongArray>): Long {
        val far = 1L shl 40
        var best = 0L
        for (sign in intArrayOf(-1, 1)) {
            val most = longArrayOf(-far, -far)
            val least = longArrayOf(far, far)
            for ((x, y, owner) in chimneys) {
                val sum = x + sign * y
                most[owner.toInt()] = maxOf(most[owner.toInt()], sum)
                least[owner.toInt()] = minOf(least[owner.toInt()], sum)
            }
            best = maxOf(best, most[0] - least[1], most[1] - least[0])
        }
        return best
    }
}
