class Solution {
    public long[] spareGloves(long[] tags) {
        long both = 0, one = 0;
        for (long tag : tags) both ^= tag;
        long bit = both & -both;
        for (long tag : tags) if ((tag & bit) != 0) one ^= tag;
        return new long[] {Math.min(one, one ^ both), Math.max(one, one ^ both)};
    }
}
