class Solution {
    public long shortestStride(long[] stones, long more) {
        Arrays.sort(stones);
        long low = 1, high = stones[stones.length - 1] - stones[0];
        while (low < high) {
            long middle = (low + high) / 2, count = 0;
            for (int i = 1; i < stones.length; i++) count += (stones[i] - stones[i - 1] - 1) / middle;
            if (count <= more) high = middle;
            else low = middle + 1;
        }
        return low;
    }
}
