package testcluster

import (
	"context"
	"errors"
	"path/filepath"
)

// Add starts the daemon of one more Mac of the scenario, which is a member of no
// cluster but its own. It is among Nodes from then on, and ended with them.
func (d *Cluster) Add(ctx context.Context, mac string) (*Node, error) {
	n := &Node{Daemon: Daemon{Home: filepath.Join(d.options.Folder, mac)}, Mac: mac, testcluster: d}
	d.Nodes = append(d.Nodes, n)
	return n, errors.Join(n.prepare(), n.Boot(ctx))
}
