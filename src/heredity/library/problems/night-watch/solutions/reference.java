class Solution {
    public long[] unwatched(long[][] watches) {
        Arrays.sort(watches, (a, b) -> Long.compare(a[0], b[0]));
        long[] gap = {};
        long best = 0, last = watches[0][1];
        for (long[] watch : watches) {
            if (watch[0] - last > best) {
                best = watch[0] - last;
                gap = new long[] {last, watch[0]};
            }
            last = Math.max(last, watch[1]);
        }
        return gap;
    }
}
