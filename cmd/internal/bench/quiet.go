package main

import "time"

// quiet is how long a cluster is left alone before it counts as idle: dials that
// come to nothing are repeated ever more slowly, and a daemon that has just joined
// thinks of its memory first.
const quiet = 20 * time.Second

// wait lets time pass.
func (b *run) wait(d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-b.ctx.Done():
		return b.ctx.Err()
	}
}
