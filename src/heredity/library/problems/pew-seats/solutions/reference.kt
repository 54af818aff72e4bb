class Solution {
    fun seated(count: Long, wishes: LongArray): LongArray {
        val after = IntArray(count.toInt() + 1) { it }
        return LongArray(wishes.size) { guest ->
            var seat = wishes[guest].toInt()
            for (round in 0..1) {
                while (after[seat] != seat) {
                    after[seat] = after[after[seat]]
                    seat = after[seat]
                }
                if (seat < count) break
                seat = 0
            }
            after[seat] = seat + 1
            seat.toLong()
        }
    }
}
