class Solution {
    fun winningMoves(baskets: LongArray, most: Long): Long {
        val size = most + 1
        var whole = 0L
        for (basket in baskets) whole = whole xor basket % size
        if (whole == 0L) return 0
        return baskets.count {
            val here = it % size
            val goal = here xor whole
            goal < here || goal <= most && here + size - goal <= it
        }.toLong()
    }
}
