class Solution {
    public long fewestCuts(long[] ribbons) {
        long piece = 0, cuts = 0;
        for (long ribbon : ribbons) {
            while (ribbon != 0) {
                long rest = piece % ribbon;
                piece = ribbon;
                ribbon = rest;
            }
        }
        for (long ribbon : ribbons) cuts += ribbon / piece - 1;
        return cuts;
    }
}
