func remaining(beads *ListNode) *ListNode {
	kept := []int{}
	for ; beads != nil; beads = beads.Next {
		if n := len(kept); n > 0 && kept[n-1] == -beads.Val {
			kept = kept[:n-1]
		} else {
			kept = append(kept, beads.Val)
		}
	}
	var first *ListNode
	for i := len(kept) - 1; i >= 0; i-- {
		first = &ListNode{Val: kept[i], Next: first}
	}
	return first
}
