class Solution {
    fun lonely(gloves: LongArray): Long {
        val left = HashMap<Long, Int>()
        for (glove in gloves) left.merge(Math.abs(glove), if (glove > 0) 1 else -1, Int::plus)
        return left.values.sumOf { Math.abs(it).toLong() }
    }
}
