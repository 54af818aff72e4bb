class Solution {
    fun heaviest(crossings: Array<LongArray>): LongArray {
        val change = java.util.TreeMap<Long, Long>()
        for ((enter, leave, weight) in crossings) {
            change.merge(enter, weight, Long::plus)
            change.merge(leave + 1, -weight, Long::plus)
        }
        var load = 0L
        var most = 0L
        var first = 0L
        for ((time, weight) in change) {
            load += weight
            if (load > most) {
                most = load
                first = time
            }
        }
        return longArrayOf(first, most)
    }
}
