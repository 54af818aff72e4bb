class Solution {
    fun longestBoard(logs: LongArray, saw: Long, boards: Long): Long {
        var low = 0L
        var high = 1_000_000_000L
        while (low < high) {
            val middle = (low + high + 1) / 2
            if (logs.sumOf { (it + saw) / (middle + saw) } >= boards) low = middle else high = middle - 1
        }
        return low
    }
}
