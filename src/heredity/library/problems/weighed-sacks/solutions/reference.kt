class Solution {
    private fun sums(part: List<Long>): LongArray {
        val found = LongArray(1 shl part.size)
        for ((i, sack) in part.withIndex()) {
            val size = 1 shl i
            for (j in 0 until size) found[size + j] = found[j] + sack
        }
        found.sort()
        return found
    }

    fun selections(sacks: LongArray, low: Long, high: Long): Long {
        val half = sacks.size / 2
        val left = sums(sacks.take(half))
        val right = sums(sacks.drop(half))
        var first = right.size
        var last = right.size
        var count = 0L
        for (total in left) {
            while (first > 0 && right[first - 1] + total >= low) first--
            while (last > 0 && right[last - 1] + total > high) last--
            count += last - first
        }
        return count
    }
}
