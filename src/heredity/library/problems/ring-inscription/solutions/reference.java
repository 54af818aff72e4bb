class Solution {
    private static String least(String text) {
        int size = text.length(), one = 0, other = 1, same = 0;
        String twice = text + text;
        while (one < size && other < size && same < size) {
            char a = twice.charAt(one + same), b = twice.charAt(other + same);
            if (a == b) {
                same++;
                continue;
            }
            if (a > b) one += same + 1;
            else other += same + 1;
            if (one == other) other++;
            same = 0;
        }
        int begin = Math.min(one, other);
        return twice.substring(begin, begin + size);
    }

    public String read(String ring) {
        String clockwise = least(ring), back = least(new StringBuilder(ring).reverse().toString());
        return clockwise.compareTo(back) <= 0 ? clockwise : back;
    }
}
