class Solution {
public:
    long long waysUp(long long rungs) {
        long long a = 1, b = 1, c = 1, d = 2;
        while (rungs--) {
            long long next = (a + d) % 1000000007;
            a = b, b = c, c = d, d = next;
        }
        return a;
    }
};
