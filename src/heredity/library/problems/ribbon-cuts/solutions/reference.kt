class Solution {
    fun fewestCuts(ribbons: LongArray): Long {
        var piece = 0L
        for (ribbon in ribbons) {
            var other = ribbon
            while (other != 0L) {
                val rest = piece % other
                piece = other
                other = rest
            }
        }
        return ribbons.sumOf { it / piece - 1 }
    }
}
