const val P = 1_000_000_007L

class Solution {
    fun peals(bells: Long, motif: LongArray, strokes: Long): Long {
        val size = motif.size
        var above = LongArray(size)
        var below = LongArray(size + 1)
        for (k in 0 until size) {
            if ((k until size).any { motif[it] != motif[it - k] }) continue
            above[k] = 1
            below[k] = (below[k] + 1) % P
            below[k + 1] = P - bells
        }
        below[size] = (below[size] + 1) % P
        var left = strokes
        while (left > 0) {
            val mirrored = LongArray(below.size) { if (it % 2 == 1) (P - below[it]) % P else below[it] }
            above = everySecond(times(above, mirrored), (left % 2).toInt())
            below = everySecond(times(below, mirrored), 0)
            left /= 2
        }
        return if (above.isEmpty()) 0 else above[0] * power(below[0], P - 2) % P
    }

    private fun times(a: LongArray, b: LongArray): LongArray {
        val product = LongArray(a.size + b.size - 1)
        for (i in a.indices) for (j in b.indices) product[i + j] = (product[i + j] + a[i] * b[j]) % P
        return product
    }

    private fun everySecond(values: LongArray, from: Int) = values.filterIndexed { i, _ -> i >= from && (i - from) % 2 == 0 }.toLongArray()

    private fun power(base: Long, exponent: Long): Long {
        if (exponent == 0L) return 1
        val half = power(base, exponent / 2)
        return if (exponent % 2 == 1L) half * half % P * base % P else half * half % P
    }
}
