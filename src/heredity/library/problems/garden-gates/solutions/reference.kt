class Solution {
    fun firstFault(walk: String): Long {
        val opener = mapOf(')' to '(', ']' to '[', '}' to '{', '*' to '*')
        val stack = ArrayDeque<Char>()
        for ((place, letter) in walk.withIndex()) {
            val open = opener[letter]
            if (open != null && stack.lastOrNull() == open) stack.removeLast()
            else if (open == null || letter == '*') stack.addLast(letter)
            else return place.toLong()
        }
        return if (stack.isEmpty()) -1 else walk.length.toLong()
    }
}
