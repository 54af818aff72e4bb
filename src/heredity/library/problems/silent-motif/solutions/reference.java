class Solution {
    private static final long P = 1_000_000_007;

    public long peals(long bells, long[] motif, long strokes) {
        int size = motif.length;
        long[] above = new long[size], below = new long[size + 1];
        for (int k = 0; k < size; k++) {
            if (!Arrays.equals(motif, k, size, motif, 0, size - k)) continue;
            above[k] = 1;
            below[k] = (below[k] + 1) % P;
            below[k + 1] = P - bells;
        }
        below[size] = (below[size] + 1) % P;
        for (; strokes > 0; strokes /= 2) {
            long[] mirrored = below.clone();
            for (int k = 1; k < mirrored.length; k += 2) mirrored[k] = (P - mirrored[k]) % P;
            above = everySecond(times(above, mirrored), (int) (strokes % 2));
            below = everySecond(times(below, mirrored), 0);
        }
        return above.length == 0 ? 0 : above[0] * power(below[0], P - 2) % P;
    }

    private static long[] times(long[] a, long[] b) {
        long[] product = new long[a.length + b.length - 1];
        for (int i = 0; i < a.length; i++)
            for (int j = 0; j < b.length; j++) product[i + j] = (product[i + j] + a[i] * b[j]) % P;
        return product;
    }

    private static long[] everySecond(long[] values, int from) {
        long[] kept = new long[(values.length - from + 1) / 2];
        for (int i = 0; i < kept.length; i++) kept[i] = values[from + 2 * i];
        return kept;
    }

    private static long power(long base, long exponent) {
        long result = 1;
        for (; exponent > 0; exponent /= 2, base = base * base % P) if (exponent % 2 == 1) result = result * base % P;
        return result;
    }
}
