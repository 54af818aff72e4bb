class Solution {
    private long upTo(long[] jars, long limit) {
        long total = 0;
        int left = 0, right = jars.length - 1;
        while (left < right) {
            if (jars[left] + jars[right] > limit) right--;
            else total += right - left++;
        }
        return total;
    }

    public long pairs(long[] jars, long low, long high) {
        Arrays.sort(jars);
        return upTo(jars, high) - upTo(jars, low - 1);
    }
}
