class Solution {
    fun payable(tolls: LongArray, coin: Long, least: Long): Long {
        val rests = LongArray(tolls.size + 1)
        for (i in tolls.indices) rests[i + 1] = Math.floorMod(rests[i] + tolls[i], coin)
        val seen = HashMap<Long, Int>()
        var answer = 0L
        for (stop in least.toInt()..tolls.size) {
            seen.merge(rests[stop - least.toInt()], 1, Int::plus)
            answer += seen.getOrDefault(rests[stop], 0)
        }
        return answer
    }
}
