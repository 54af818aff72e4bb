class Solution {
    fun ledger(levels: LongArray): Long {
        var total = 0L
        for (sign in listOf(1L, -1L)) {
            val stack = ArrayDeque<Int>()
            stack.addLast(-1)
            for (i in 0..levels.size) {
                while (stack.size > 1 && (i == levels.size || sign * levels[stack.last()] <= sign * levels[i])) {
                    val top = stack.removeLast()
                    val left = (top - stack.last()).toLong()
                    val right = (i - top).toLong()
                    total += sign * levels[top] * (left * right * (left + right) / 2)
                }
                stack.addLast(i)
            }
        }
        return total
    }
}
