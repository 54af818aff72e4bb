class Solution {
    fun spareGloves(tags: LongArray): LongArray {
        var both = 0L
        for (tag in tags) both = both xor tag
        val bit = both and -both
        var one = 0L
        for (tag in tags) if (tag and bit != 0L) one = one xor tag
        val other = one xor both
        return longArrayOf(minOf(one, other), maxOf(one, other))
    }
}
