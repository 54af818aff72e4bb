class Solution {
    public long firstFault(String walk) {
        char[] stack = new char[walk.length()];
        int top = 0;
        for (int i = 0; i < walk.length(); i++) {
            char letter = walk.charAt(i);
            int kind = ")]}*".indexOf(letter);
            if (kind < 0) stack[top++] = letter;
            else if (top > 0 && stack[top - 1] == "([{*".charAt(kind)) top--;
            else if (letter == '*') stack[top++] = letter;
            else return i;
        }
        return top == 0 ? -1 : walk.length();
    }
}
