class Solution {
    fun higher(roofs: LongArray): LongArray {
        val answer = LongArray(roofs.size) { -1 }
        val stack = ArrayDeque<Int>()
        for (i in roofs.indices) {
            while (stack.isNotEmpty() && roofs[stack.last()] <= roofs[i]) stack.removeLast()
            if (stack.isNotEmpty()) answer[i] = stack.last().toLong()
            stack.addLast(i)
        }
        stack.clear()
        for (i in roofs.indices.reversed()) {
            while (stack.isNotEmpty() && roofs[stack.last()] <= roofs[i]) stack.removeLast()
            if (stack.isNotEmpty() && (answer[i] < 0 || stack.last() - i < i - answer[i])) answer[i] = stack.last().toLong()
            stack.addLast(i)
        }
        return answer
    }
}
