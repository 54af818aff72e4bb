class Solution {
    fun shortestStride(stones: LongArray, more: Long): Long {
        stones.sort()
        var low = 1L
        var high = stones.last() - stones.first()
        while (low < high) {
            val middle = (low + high) / 2
            var count = 0L
            for (i in 1 until stones.size) count += (stones[i] - stones[i - 1] - 1) / middle
            if (count <= more) high = middle else low = middle + 1
        }
        return low
    }
}
