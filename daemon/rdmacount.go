package daemon

import (
	"context"
	"log/slog"
	"maps"
	"sync"

	"fulmen/daemon/api"
	"fulmen/native"
)

// manyProbes is from how many tests of one device on nothing is tested unasked, and
// people are told. The driver is reported to have room for 11 until a restart, each
// run leaving one protection domain behind.
const manyProbes = 8

// probesRun counts the tests over RDMA since the system started.
type probesRun struct {
	// BootID is that start's.
	BootID string `json:"boot_id"`
	// Runs are the tests that opened the device, by receptacle.
	Runs map[api.Receptacle]int `json:"runs"`
}

// probeCount counts tests over restarts of the daemon, and begins anew with the
// system.
type probeCount struct {
	keep func(probesRun) error
	log  *slog.Logger

	mu  sync.Mutex
	run probesRun
}

// openProbeCount reads what was counted before.
func (d *daemon) openProbeCount(ctx context.Context) error {
	before, err := storage{d.database}.loadProbes()
	if err != nil {
		return err
	}
	d.probes = &probeCount{keep: storage{d.database}.saveProbes, log: d.logs.part("profile"), run: before}
	d.tellManyProbes(d.bootID(ctx))
	return nil
}

// bootID is the id of the system's start; empty where it is not known.
func (d *daemon) bootID(ctx context.Context) string {
	ctx, cancel := native.WithTimeout(ctx, d.platform.Clock, obstacleWithin, "the id of the system's start")
	defer cancel()
	snapshot, err := d.platform.Facts.Snapshot(ctx, native.AreaIdentity)
	if err != nil || snapshot.Identity == nil {
		return ""
	}
	return snapshot.Identity.BootID
}

// add counts one more.
func (c *probeCount) add(bootID string, r api.Receptacle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := probesRun{BootID: bootID, Runs: map[api.Receptacle]int{}}
	if c.run.BootID == bootID {
		maps.Copy(next.Runs, c.run.Runs)
	}
	next.Runs[r]++
	c.run = next
	if err := c.keep(next); err != nil {
		c.log.Error("that a cable was tested could not be kept", "receptacle", r, "error", err)
	}
}

// since counts the tests since the start that has an id.
func (c *probeCount) since(bootID string, r api.Receptacle) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run.BootID != bootID {
		return 0
	}
	return c.run.Runs[r]
}
