package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"fulmen/daemon/e2e/testcluster"
)

const (
	// scaleMany bounds the group where more daemons than usual are asked for.
	scaleMany = 10 * time.Minute
	// scaleCalm is for how long their work is counted on once they are one cluster:
	// what follows a join a moment later belongs to it.
	scaleCalm = 3 * time.Second
)

// scaleGoals are what so many daemons may take together, in seconds of processor, until
// they are one cluster, and what memory each may have then, in MB; 0: it is only reported.
var scaleGoals = map[int]struct{ cpu, memory float64 }{16: {8, 0}, 32: {30, 40}, 64: {130, 0}}

// scaleRows measures how the work of becoming one cluster grows with the number of
// daemons, which join the first one after the other.
func (b *run) scaleRows() error {
	if runtime.GOOS != "linux" {
		return errNotMeasured("the processor time of daemons is read from /proc, which this system has not")
	}
	sizes := []int{8, 16, 24}
	switch {
	case b.shortest:
		sizes = []int{1, 2}
	case b.nodes > 0:
		sizes = []int{max(b.nodes/2, 1), b.nodes}
	}
	var first, last float64
	for i, size := range sizes {
		began := time.Now()
		took, memory, err := b.becomeOne(size)
		if err != nil {
			return fmt.Errorf("%d daemons: %w", size, err)
		}
		goal := func(value float64) *float64 {
			if value == 0 {
				return nil
			}
			return &value
		}
		goals := scaleGoals[size]
		how := fmt.Sprintf("/proc, until each sees all, and %v more; simulated Macs on one LAN", scaleCalm)
		b.rows = append(b.rows,
			newRow(fmt.Sprintf("%d daemons become one cluster, processor time of all", size), Exactly(took.Seconds()), "s", Lower, goal(goals.cpu), "", how),
			newRow(fmt.Sprintf("%d daemons become one cluster, memory of each", size), Every(memory), "MB of its own", Lower, goal(goals.memory), "", "/proc, right after"))
		last = took.Seconds()
		if i == 0 {
			first = last
			continue
		}
		b.rows = append(b.rows, newRow(fmt.Sprintf("the same, growth from %d to %d", sizes[0], size), Exactly(math.Log(last/first)/math.Log(float64(size)/float64(sizes[0]))), "exponent of the number", Lower, nil, "",
			"2: what each has to do with each other one"))
		if next := i + 1; next < len(sizes) && b.nodes == 0 { // it takes twice as long and more
			if left := b.left(); left < 5*time.Since(began)/2 {
				b.print(fmt.Sprintf("no time for %d daemons", sizes[next]))
				return nil
			}
		}
	}
	return nil
}

// becomeOne has so many daemons become one cluster, and gives the processor time of all
// together and the MB of memory of each.
func (b *run) becomeOne(size int) (took time.Duration, memory []float64, err error) {
	b.report(fmt.Sprintf("%d daemons become one cluster", size))
	folder, err := os.MkdirTemp("", "fs")
	if err != nil {
		return 0, nil, err
	}
	defer os.RemoveAll(folder)
	scenario := filepath.Join(folder, "many.toml")
	macs, text := manyMacs(size)
	if err := os.WriteFile(scenario, []byte(text), 0o600); err != nil {
		return 0, nil, err
	}
	d, err := testcluster.Start(b.ctx, testcluster.Options{Fulmend: filepath.Join(filepath.Dir(b.worker), "fulmend"), Scenario: scenario, Macs: macs, Folder: folder})
	if err != nil {
		d.Close()
		return 0, nil, errors.Join(err, context.Cause(b.ctx))
	}
	defer d.Close()
	if err := b.wait(scaleCalm); err != nil {
		return 0, nil, errors.Join(err, context.Cause(b.ctx))
	}
	for _, n := range d.Nodes {
		used, err := usageOf(n.PID())
		if err != nil {
			return 0, nil, err
		}
		took += used.cpu
		memory = append(memory, float64(used.own)/1e6)
	}
	return took, memory, nil
}

// manyMacs is a scenario of Mac Studios on one LAN.
func manyMacs(size int) (names []string, text string) {
	var s strings.Builder
	s.WriteString("title = \"Many Mac Studios\"\nnetwork = [{ name = \"lan\", type = \"ethernet\" }]\n")
	for i := range size {
		name := fmt.Sprintf("studio-%d", i+1)
		names = append(names, name)
		fmt.Fprintf(&s, "\n[[mac]]\nname = %q\nlike = \"mac-studio-m3-ultra\"\nmemory = \"512 GB\"\nos = \"26.2/25C56\"\nrdma = \"on\"\n"+
			"interface = [{ name = \"en0\", network = \"lan\", addresses = [\"192.168.1.%d/24 dhcp\"] }]\n", name, i+11)
	}
	return names, s.String()
}
