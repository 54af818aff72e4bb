fun least(text: String): String {
    val size = text.length
    val twice = text + text
    var one = 0
    var other = 1
    var same = 0
    while (one < size && other < size && same < size) {
        val a = twice[one + same]
        val b = twice[other + same]
        if (a == b) {
            same++
            continue
        }
        if (a > b) one += same + 1 else other += same + 1
        if (one == other) other++
        same = 0
    }
    val begin = minOf(one, other)
    return twice.substring(begin, begin + size)
}

class Solution {
    fun read(ring: String): String {
        val clockwise = least(ring)
        val back = least(ring.reversed())
        return if (back < clockwise) back else clockwise
    }
}
