class Solution {
    fun pairs(jars: LongArray, low: Long, high: Long): Long {
        jars.sort()
        fun upTo(limit: Long): Long {
            var total = 0L
            var left = 0
            var right = jars.size - 1
            while (left < right) {
                if (jars[left] + jars[right] > limit) right--
                else total += right - left++
            }
            return total
        }
        return upTo(high) - upTo(low - 1)
    }
}
