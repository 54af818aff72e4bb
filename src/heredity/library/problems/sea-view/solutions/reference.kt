class Solution {
    fun withView(houses: LongArray, clear: Long): LongArray {
        val seen = ArrayList<Long>()
        var highest = -clear
        for (i in houses.indices.reversed()) {
            if (houses[i] >= highest + clear) seen.add(i.toLong())
            highest = maxOf(highest, houses[i])
        }
        return seen.reversed().toLongArray()
    }
}
