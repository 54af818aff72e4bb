class Solution {
    fun lit(lamps: Long, wishes: Array<LongArray>): BooleanArray {
        val n = lamps.toInt()
        val size = 2 * n + 1
        val then = Array(size) { ArrayList<Int>() }
        for ((a, b) in wishes) {
            then[n - a.toInt()].add(n + b.toInt())
            then[n - b.toInt()].add(n + a.toInt())
        }
        val number = IntArray(size)
        val low = IntArray(size)
        val group = IntArray(size)
        val next = IntArray(size)
        val pending = ArrayDeque<Int>()
        val trail = ArrayDeque<Int>()
        var count = 0
        var groups = 0
        for (root in 0 until size) {
            if (root == n || number[root] > 0) continue
            trail.addLast(root)
            while (trail.isNotEmpty()) {
                val here = trail.last()
                if (number[here] == 0) {
                    number[here] = ++count
                    low[here] = count
                    pending.addLast(here)
                }
                if (next[here] < then[here].size) {
                    val there = then[here][next[here]++]
                    if (number[there] == 0) trail.addLast(there)
                    else if (group[there] == 0) low[here] = minOf(low[here], number[there])
                    continue
                }
                trail.removeLast()
                if (trail.isNotEmpty()) low[trail.last()] = minOf(low[trail.last()], low[here])
                if (low[here] != number[here]) continue
                groups++
                while (group[here] == 0) group[pending.removeLast()] = groups
            }
        }
        for (lamp in 1..n) if (group[n + lamp] == group[n - lamp]) return booleanArrayOf()
        return BooleanArray(n) { group[n + it + 1] < group[n - it - 1] }
    }
}
