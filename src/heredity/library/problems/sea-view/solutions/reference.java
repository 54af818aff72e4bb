class Solution {
    public long[] withView(long[] houses, long clear) {
        int count = 0;
        long highest = -clear;
        long[] seen = new long[houses.length];
        for (int i = houses.length - 1; i >= 0; i--) {
            if (houses[i] >= highest + clear) seen[houses.length - ++count] = i;
            highest = Math.max(highest, houses[i]);
        }
        return Arrays.copyOfRange(seen, houses.length - count, houses.length);
    }
}
