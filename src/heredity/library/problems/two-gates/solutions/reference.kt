class Solution {
    fun twoGates(tolls: LongArray, purse: Long): LongArray {
        val places = HashMap<Long, ArrayDeque<Int>>()
        for (i in tolls.indices) places.getOrPut(tolls[i]) { ArrayDeque() }.addLast(i)
        for (i in tolls.indices) {
            places.getValue(tolls[i]).removeFirst()
            val others = places[purse - tolls[i]]
            if (others != null && others.isNotEmpty()) return longArrayOf(i.toLong(), others.first().toLong())
        }
        return longArrayOf(-1, -1)
    }
}
