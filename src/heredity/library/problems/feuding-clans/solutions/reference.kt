class Solution {
    fun lie(count: Long, sayings: Array<LongArray>): Long {
        val n = count.toInt()
        val above = IntArray(2 * n) { it }
        fun find(start: Int): Int {
            var x = start
            while (above[x] != x) {
                above[x] = above[above[x]]
                x = above[x]
            }
            return x
        }
        for ((i, saying) in sayings.withIndex()) {
            val a = saying[0].toInt()
            val b = saying[1].toInt()
            val turn = saying[2].toInt() * n
            above[find(a)] = find((b + turn) % (2 * n))
            above[find(a + n)] = find((b + n + turn) % (2 * n))
            if (find(a) == find(a + n)) return i.toLong()
        }
        return -1
    }
}
