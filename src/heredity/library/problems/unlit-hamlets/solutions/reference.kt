class Solution {
    fun unlit(count: Long, tracks: Array<LongArray>, lamps: LongArray): Long {
        val near = Array(count.toInt()) { ArrayList<Int>() }
        for ((a, b) in tracks) {
            near[a.toInt()].add(b.toInt())
            near[b.toInt()].add(a.toInt())
        }
        val order = ArrayList(lamps.map { it.toInt() }.toSet())
        val lit = BooleanArray(count.toInt())
        for (lamp in order) lit[lamp] = true
        var next = 0
        while (next < order.size) {
            for (b in near[order[next++]]) {
                if (!lit[b]) {
                    lit[b] = true
                    order.add(b)
                }
            }
        }
        return count - order.size
    }
}
