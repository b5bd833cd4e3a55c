package simmac

import (
	"maps"
	"slices"
)

// Node is an entry of the I/O Registry.
type Node struct {
	// Key names the node among all of its plane, the same at every projection.
	Key string
	// Name, Location and Class are as ioreg shows them.
	Name, Location, Class string
	Properties            map[string]any
	Children              []*Node
}

// Add hangs a new node below n and returns it. Its key follows from n's.
func (n *Node) Add(class, name, location string, properties map[string]any) *Node {
	if properties == nil {
		properties = map[string]any{}
	}
	child := &Node{Key: n.Key + "/" + name + "@" + location, Name: name, Location: location, Class: class, Properties: properties}
	n.Children = append(n.Children, child)
	return child
}

// Walk calls visit for every node below n, each after what it hangs from.
func (n *Node) Walk(visit func(parent, node *Node)) {
	for _, child := range n.Children {
		visit(n, child)
		child.Walk(visit)
	}
}

// Keys are the keys of all nodes below n, sorted.
func (n *Node) Keys() []string {
	all := map[string]bool{}
	n.Walk(func(_, node *Node) { all[node.Key] = true })
	return slices.Sorted(maps.Keys(all))
}
