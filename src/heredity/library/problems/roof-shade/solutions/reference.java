class Solution {
    public long[] higher(long[] roofs) {
        int count = roofs.length, top = 0;
        int[] stack = new int[count];
        long[] answer = new long[count];
        for (int i = 0; i < count; i++) {
            while (top > 0 && roofs[stack[top - 1]] <= roofs[i]) top--;
            answer[i] = top == 0 ? -1 : stack[top - 1];
            stack[top++] = i;
        }
        top = 0;
        for (int i = count - 1; i >= 0; i--) {
            while (top > 0 && roofs[stack[top - 1]] <= roofs[i]) top--;
            if (top > 0 && (answer[i] < 0 || stack[top - 1] - i < i - answer[i])) answer[i] = stack[top - 1];
            stack[top++] = i;
        }
        return answer;
    }
}
