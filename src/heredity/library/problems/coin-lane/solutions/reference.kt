class Solution {
    fun bestLead(coins: LongArray): Long {
        val n = coins.size
        val lead = Array(n + 2) { Array(n + 1) { LongArray(4) } }
        for (start in n - 1 downTo 0)
            for (end in start + 1..n)
                for (state in 0..3) {
                    val mine = state shr 1
                    val yours = state and 1
                    val after = 2 * yours + mine
                    var best = maxOf(coins[start] - lead[start + 1][end][after], coins[end - 1] - lead[start][end - 1][after])
                    if (mine == 1 && end - start > 1) {
                        best = maxOf(best, coins[start] + coins[start + 1] - lead[start + 2][end][2 * yours])
                        best = maxOf(best, coins[end - 1] + coins[end - 2] - lead[start][end - 2][2 * yours])
                    }
                    lead[start][end][state] = best
                }
        return lead[0][n][3]
    }
}
