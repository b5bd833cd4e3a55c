package profile

import (
	"fmt"
	"log/slog"
	"maps"
	"sync"

	"fulmen/daemon/api"
)

// ManyProbes is from how many tests of one device on nothing is tested unasked, and
// people are told. The driver is reported to have room for 11 until a restart, each
// run leaving one protection domain behind.
const ManyProbes = 8

// Probes counts the tests over RDMA since the system started.
type Probes struct {
	// BootID is that start's.
	BootID string `json:"boot_id"`
	// Runs are the tests that opened the device, by receptacle.
	Runs map[api.Receptacle]int `json:"runs"`
}

// ProbeCount counts tests over restarts of the daemon, and begins anew with the
// system.
type ProbeCount struct {
	node       api.NodeID
	conditions Conditions
	keep       func(Probes) error
	log        *slog.Logger

	mu  sync.Mutex
	run Probes
}

// CountProbes goes on from what was counted before.
func CountProbes(node api.NodeID, before Probes, keep func(Probes) error, conditions Conditions, log *slog.Logger) *ProbeCount {
	return &ProbeCount{node: node, conditions: conditions, keep: keep, log: log, run: before}
}

// Add counts one more, and tells of it.
func (c *ProbeCount) Add(bootID string, r api.Receptacle) {
	defer c.Tell(bootID)
	c.mu.Lock()
	defer c.mu.Unlock()
	next := Probes{BootID: bootID, Runs: map[api.Receptacle]int{}}
	if c.run.BootID == bootID {
		maps.Copy(next.Runs, c.run.Runs)
	}
	next.Runs[r]++
	c.run = next
	if err := c.keep(next); err != nil {
		c.log.Error("that a cable was tested could not be kept", "receptacle", r, "error", err)
	}
}

// Since counts the tests since the start that has an id.
func (c *ProbeCount) Since(bootID string, r api.Receptacle) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run.BootID != bootID {
		return 0
	}
	return c.run.Runs[r]
}

// Tell raises or clears what there is to say of each receptacle.
func (c *ProbeCount) Tell(bootID string) {
	subject := func(r api.Receptacle) string { return api.LinkEnd{Node: c.node, Receptacle: r}.String() }
	for r := api.Receptacle(1); r <= api.MaxReceptacle; r++ {
		var err error
		if n := c.Since(bootID, r); n >= ManyProbes {
			err = c.conditions.Raise(api.ReasonRDMAProbesSpent, subject(r), fmt.Sprintf("receptacle %s: %d tests", r, n))
		} else {
			err = c.conditions.Clear(api.ReasonRDMAProbesSpent, subject(r))
		}
		if err != nil {
			c.log.Error("a condition could not be published", "error", err)
		}
	}
}
