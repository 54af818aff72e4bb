class Solution {
    static long long root(long long number) {
        long long guess = sqrtl(number);
        while (guess * guess > number) --guess;
        while ((guess + 1) * (guess + 1) <= number) ++guess;
        return guess;
    }
public:
    long long stillLit(long long lamps) { return root(lamps) + root(lamps / 2); }
};
