//go:build !linux

package main

// clusterRows measures daemons that are a cluster, each in a network namespace.
func (b *run) clusterRows() error {
	return errNotMeasured("a cluster on one machine needs network namespaces, which this system has not")
}

// copyRows measures copies of models.
func (b *run) copyRows() error { return b.clusterRows() }

// watchedRows measures daemons of whose cluster somebody looks at the links.
func (b *run) watchedRows() error { return b.clusterRows() }
