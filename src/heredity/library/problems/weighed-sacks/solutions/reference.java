class Solution {
    private static long[] sums(long[] sacks, int from, int to) {
        long[] found = new long[1 << (to - from)];
        for (int i = from, size = 1; i < to; i++, size *= 2)
            for (int j = 0; j < size; j++) found[size + j] = found[j] + sacks[i];
        Arrays.sort(found);
        return found;
    }
    public long selections(long[] sacks, long low, long high) {
        int half = sacks.length / 2;
        long[] left = sums(sacks, 0, half), right = sums(sacks, half, sacks.length);
        int first = right.length, last = right.length;
        long count = 0;
        for (long total : left) {
            while (first > 0 && right[first - 1] + total >= low) first--;
            while (last > 0 && right[last - 1] + total > high) last--;
            count += last - first;
        }
        return count;
    }
}
