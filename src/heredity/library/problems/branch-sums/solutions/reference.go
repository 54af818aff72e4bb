type visit struct {
	node  *TreeNode
	total int
}

func even(tree *TreeNode, guests int) int {
	seen := map[int]int{0: 1}
	stack := []visit{}
	if tree != nil {
		stack = append(stack, visit{tree, 0})
	}
	count := 0
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if top.node == nil {
			seen[top.total]--
			continue
		}
		total := ((top.total+top.node.Val)%guests + guests) % guests
		count += seen[total]
		seen[total]++
		stack = append(stack, visit{nil, total})
		if top.node.Left != nil {
			stack = append(stack, visit{top.node.Left, total})
		}
		if top.node.Right != nil {
			stack = append(stack, visit{top.node.Right, total})
		}
	}
	return count
}
