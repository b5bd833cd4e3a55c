package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/vishvananda/netlink"

	"fulmen/cmd/internal/bench/stats"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/netns"
)

const (
	// changes is how many changes of a fact are timed.
	changes = 1200
	// pace is between two of them, of different machines.
	pace = 70 * time.Millisecond
	// factsDeadline bounds all of them.
	factsDeadline = 5 * time.Minute
)

// clusterRows measures daemons that are a cluster, each in a network namespace.
func (b *run) clusterRows() error {
	// What an idle daemon may cost, by the size of its cluster.
	for _, goal := range []struct {
		size               int
		cpu, wakeUps, sent float64
	}{{4, 0.12, 15, 0}, {16, 0.15, 20, 2}} {
		fmt.Fprintf(os.Stderr, "bench: a cluster of %d, for two minutes\n", goal.size)
		c, err := b.startCluster(goal.size)
		if err == nil && goal.size == 4 {
			err = b.factRows(c)
		}
		if err == nil {
			err = b.idleCluster(c, goal.cpu, goal.wakeUps, goal.sent)
		}
		c.close()
		if errors.Is(err, netns.ErrNotRoot) {
			fmt.Fprintln(os.Stderr, "bench: a cluster on one machine needs network namespaces, and they need root")
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// factRows time the way of a fact from one machine to a client of another one's
// daemon: the kernel is told another MTU of an interface that carries nothing. An
// area of facts is read at once and again when it has settled, and what changes
// in between waits; so the machines take turns.
func (b *run) factRows(c *cluster) error {
	to, others := c.members[0], c.members[1:]
	spares := map[*member]*spare{}
	for _, m := range others {
		s, err := newSpare(m)
		if err != nil {
			return err
		}
		defer s.kernel.Close()
		spares[m] = s
	}
	ctx, cancel := context.WithTimeoutCause(b.ctx, factsDeadline, fmt.Errorf("not all changes of a fact arrived within %v", factsDeadline))
	defer cancel()
	arrived := make(chan int64, 16) // the MTUs that the client hears of
	go func() {
		defer close(arrived)
		for event, err := range to.client.Watch(ctx, api.StateSelect{Kinds: []api.Kind{api.KindNetwork}}) {
			if err != nil {
				return
			}
			for _, mtu := range mtusOf(event, "spare0") {
				arrived <- mtu
			}
		}
	}()
	var times []float64
	for i := range changes {
		if err := b.wait(pace); err != nil {
			return err
		}
		from, mtu := others[i%len(others)], int64(2000+i)
		began := time.Now()
		if err := spares[from].kernel.LinkSetMTU(spares[from].link, int(mtu)); err != nil {
			return err
		}
		for found := range arrived {
			if found == mtu {
				break
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		times = append(times, float64(time.Since(began))/1e6)
	}
	p50, p99 := 2.0, 15.0
	method := fmt.Sprintf("%d changes of an interface, in a cluster of %d on this machine", changes, len(c.members))
	b.rows = append(b.rows,
		newRow("change to a client of another node, p50", stats.Quantile(times, 0.5), "ms", Lower, &p50, "", method),
		newRow("change to a client of another node, p99", stats.Quantile(times, 0.99), "ms", Lower, &p99, "", method))
	return nil
}

// spare is an interface that carries nothing, and what its namespace's kernel is
// asked through: to enter the namespace and to find the interface by its name is
// no part of what is timed.
type spare struct {
	kernel *netlink.Handle
	link   netlink.Link
}

func newSpare(m *member) (*spare, error) {
	s := &spare{}
	return s, m.Do(func() (err error) {
		if err = netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "spare0"}, PeerName: "spare1"}); err != nil {
			return err
		}
		if s.link, err = netlink.LinkByName("spare0"); err != nil {
			return err
		}
		s.kernel, err = netlink.NewHandle()
		return err
	})
}

// mtusOf finds the MTUs of all interfaces of a name in an event.
func mtusOf(event client.Event, name string) []int64 {
	var all []int64
	for _, d := range event.Put {
		var network api.Network
		if d.Decode(&network) != nil {
			continue
		}
		for _, i := range network.Interfaces {
			if i.Name == name && i.MTUBytes != nil {
				all = append(all, *i.MTUBytes)
			}
		}
	}
	return all
}

// idleCluster measures what each daemon costs while nobody looks, and what it
// sends.
func (b *run) idleCluster(c *cluster, cpu, wakeUps, sent float64) error {
	if err := b.wait(quiet); err != nil {
		return err
	}
	before, err := c.costs()
	if err != nil {
		return err
	}
	if err := b.wait(idleFor); err != nil {
		return err
	}
	after, err := c.costs()
	if err != nil {
		return err
	}
	seconds := idleFor.Seconds()
	add := func(name string, goal float64, unit string, of func(before, after cost) float64) {
		var values []float64
		for i := range before {
			values = append(values, of(before[i], after[i]))
		}
		var wanted *float64
		if goal > 0 {
			wanted = &goal
		}
		b.rows = append(b.rows, newRow(fmt.Sprintf("idle daemon in a cluster of %d, %s", len(c.members), name), stats.Quantile(values, 0.5), unit, Lower, wanted, "",
			fmt.Sprintf("/proc and the interface over %v, nobody watches, every daemon", idleFor)))
	}
	add("CPU", cpu, "% of a core", func(b, a cost) float64 { return (a.cpu - b.cpu).Seconds() / seconds * 100 })
	add("memory", 30, "MB resident", func(_, a cost) float64 { return float64(a.rss) / 1e6 })
	add("wake-ups", wakeUps, "voluntary switches/s", func(b, a cost) float64 { return float64(a.switches-b.switches) / seconds })
	add("traffic", sent, "kB/s sent", func(b, a cost) float64 { return float64(a.sent-b.sent) / seconds / 1e3 })
	return nil
}

// cost is what a member of a cluster has used.
type cost struct {
	usage
	sent uint64 // bytes on the LAN
}

// costs are those of every member, in order.
func (c *cluster) costs() ([]cost, error) {
	var all []cost
	for _, m := range c.members {
		used, err := usageOf(m.process.Process.Pid)
		if err != nil {
			return nil, err
		}
		_, sent, err := m.Traffic("lan0")
		if err != nil {
			return nil, err
		}
		all = append(all, cost{used, sent})
	}
	return all, nil
}
