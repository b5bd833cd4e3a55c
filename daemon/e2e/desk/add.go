package desk

import (
	"context"
	"errors"
	"path/filepath"
)

// Add starts the daemon of one more Mac of the scenario, which is a member of no
// cluster but its own. It is among Nodes from then on, and ended with them.
func (d *Desk) Add(ctx context.Context, mac string) (*Node, error) {
	n := &Node{Mac: mac, Home: filepath.Join(d.options.Folder, mac), desk: d}
	d.Nodes = append(d.Nodes, n)
	return n, errors.Join(n.prepare(), n.Boot(ctx))
}
