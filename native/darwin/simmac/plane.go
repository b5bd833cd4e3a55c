//go:build cgo && linux && darwinsim

package simmac

import (
	"cmp"
	"errors"
	"maps"
	"reflect"
	"slices"

	"fulmen/native/darwin/simfw"
)

// plane applies trees to one plane of a machine.
type plane struct {
	machine    *simfw.Machine
	deviceTree bool
	next       uint64
	ids        map[string]uint64
	properties map[string]map[string]any
	parents    map[string]string
	tree       *Node // as last applied
}

func newPlane(m *simfw.Machine, deviceTree bool) *plane {
	p := &plane{machine: m, deviceTree: deviceTree, next: 0x100000100, ids: map[string]uint64{"": 0}, properties: map[string]map[string]any{}, parents: map[string]string{}}
	if deviceTree {
		p.next = 0x100000000 // below those of services, so that no two are equal
	}
	return p
}

// apply removes what is gone, changes what differs, and adds what is new.
func (p *plane) apply(want *Node) error {
	p.tree = want
	wanted := map[string]*Node{}
	want.Walk(func(_, n *Node) { wanted[n.Key] = n })
	var err error
	for key, have := range p.properties {
		if n := wanted[key]; n != nil && !reflect.DeepEqual(have, n.Properties) {
			err = errors.Join(err, p.machine.SetProperties(p.deviceTree, p.ids[key], n.Properties, simfw.PropertyChange))
			p.properties[key] = n.Properties
		}
	}
	for _, key := range sortedByLength(p.properties) {
		if _, there := p.ids[key]; there && wanted[key] == nil {
			err = errors.Join(err, p.remove(key))
		}
	}
	want.Walk(func(parent, n *Node) {
		if _, there := p.ids[n.Key]; there {
			return
		}
		p.next++
		p.ids[n.Key], p.properties[n.Key], p.parents[n.Key] = p.next, n.Properties, parent.Key
		err = errors.Join(err, p.machine.AddEntry(p.deviceTree, p.ids[parent.Key], p.next, n.Name, n.Location, n.Class, n.Properties))
	})
	return err
}

// remove takes a node away with all below it.
func (p *plane) remove(key string) error {
	err := p.machine.RemoveEntry(p.deviceTree, p.ids[key])
	gone := []string{key}
	for len(gone) > 0 {
		key, gone = gone[0], gone[1:]
		delete(p.ids, key)
		delete(p.properties, key)
		for child, parent := range p.parents {
			if parent == key {
				gone = append(gone, child)
			}
		}
		delete(p.parents, key)
	}
	return err
}

// sortedByLength has what others hang from first.
func sortedByLength(m map[string]map[string]any) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
}
