class Solution {
    fun walk(squares: Long, lanes: Array<LongArray>): LongArray {
        val leaving = Array(squares.toInt()) { ArrayDeque<Int>() }
        for ((number, lane) in lanes.withIndex()) {
            leaving[lane[0].toInt()].addLast(number)
            leaving[lane[1].toInt()].addLast(number)
        }
        val odd = leaving.indices.filter { leaving[it].size % 2 == 1 }
        if (odd.size > 2) return longArrayOf()
        val walked = BooleanArray(lanes.size)
        val trail = ArrayDeque<Long>()
        trail.addLast(if (odd.isEmpty()) lanes[0][0] else odd[0].toLong())
        val tour = LongArray(lanes.size + 1)
        var length = 0
        while (trail.isNotEmpty()) {
            val here = trail.last()
            val ways = leaving[here.toInt()]
            while (ways.isNotEmpty() && walked[ways.last()]) ways.removeLast()
            if (ways.isEmpty()) {
                tour[length++] = here
                trail.removeLast()
            } else {
                val number = ways.removeLast()
                walked[number] = true
                trail.addLast(lanes[number][0] + lanes[number][1] - here)
            }
        }
        return if (length == tour.size) tour else longArrayOf()
    }
}
