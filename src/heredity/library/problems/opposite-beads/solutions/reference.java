class Solution {
    public ListNode remaining(ListNode beads) {
        ArrayDeque<Long> kept = new ArrayDeque<>();
        for (; beads != null; beads = beads.next) {
            if (!kept.isEmpty() && kept.peek() == -beads.val) kept.pop();
            else kept.push(beads.val);
        }
        ListNode first = null;
        for (long value : kept) first = new ListNode(value, first);
        return first;
    }
}
