func proud(tree *TreeNode) int {
	order := []*TreeNode{}
	if tree != nil {
		order = append(order, tree)
	}
	for i := 0; i < len(order); i++ {
		for _, child := range []*TreeNode{order[i].Left, order[i].Right} {
			if child != nil {
				order = append(order, child)
			}
		}
	}
	sums := map[*TreeNode]int{}
	count := 0
	for i := len(order) - 1; i >= 0; i-- {
		node := order[i]
		below := sums[node.Left] + sums[node.Right]
		if node.Val > below {
			count++
		}
		sums[node] = below + node.Val
	}
	return count
}
