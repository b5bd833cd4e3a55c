package main

import (
	"context"
	"fmt"
	"time"

	"github.com/vishvananda/netlink"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

const (
	// changes is how many changes of a fact are timed before the rows are looked at:
	// the interval of a p99 has an end from 385 on.
	changes = 600
	// pace is between two of them, of different machines.
	pace = 70 * time.Millisecond
	// idleWindow is how long a cluster is looked at before it is seen whether its rows
	// are decided.
	idleWindow = 30 * time.Second
)

// clusterRows measures daemons that are a cluster, each in a network namespace.
func (b *run) clusterRows() error {
	// What an idle daemon may cost, by the size of its cluster.
	goals := []clusterGoal{{4, 0.12, 15, 0}, {16, 0.15, 20, 2}}
	if b.shortest {
		goals = []clusterGoal{{2, 0, 0, 0}}
	}
	for i, goal := range goals {
		within := b.left() / time.Duration(len(goals)-i)
		began := time.Now()
		c, err := b.startCluster(goal.size, "")
		if err == nil && i == 0 {
			err = b.factRows(c, within/2)
		}
		if err == nil {
			err = b.idleCluster(c, goal, within-time.Since(began))
		}
		c.close()
		if err != nil {
			return err
		}
	}
	return nil
}

// clusterGoal is what an idle daemon of a cluster may cost; 0: it is only reported.
type clusterGoal struct {
	size               int
	cpu, wakeUps, sent float64
}

// factRows time the way of a fact from one machine to a client of another one's
// daemon: the kernel is told another MTU of an interface that carries nothing. An
// area of facts is read at once and again when it has settled, and what changes
// in between waits; so the machines take turns.
func (b *run) factRows(c *cluster, within time.Duration) error {
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
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	mtus := make(chan int64, 16) // the MTUs that the client hears of
	go func() {
		defer close(mtus)
		for event, err := range to.Client.Watch(ctx, api.StateSelect{Kinds: []api.Kind{api.KindNetwork}}) {
			if err != nil {
				return
			}
			for _, mtu := range mtusOf(event, "spare0") {
				mtus <- mtu
			}
		}
	}()
	var times []float64
	return b.sample("changes of facts", changes, within, func(i int) error {
		if err := b.wait(pace); err != nil {
			return err
		}
		from, mtu := others[i%len(others)], int64(2000+i%20000)
		began := time.Now()
		if err := spares[from].kernel.LinkSetMTU(spares[from].link, int(mtu)); err != nil {
			return err
		}
		for found := range mtus {
			if found == mtu {
				break
			}
		}
		times = append(times, float64(time.Since(began))/1e6)
		return context.Cause(ctx)
	}, func() []Row {
		method := fmt.Sprintf("changes of an interface, in a cluster of %d on this machine", len(c.members))
		return []Row{
			newRow("change to a client of another node, p50", Quantile(times, 0.5), "ms", Lower, new(5.0), "", method),
			newRow("change to a client of another node, p99", Quantile(times, 0.99), "ms", Lower, new(15.0), "", method),
		}
	})
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
// sends. The longer it is looked at, the less one thing that happens now and then
// counts.
func (b *run) idleCluster(c *cluster, goal clusterGoal, within time.Duration) error {
	began := time.Now()
	if err := b.wait(quiet); err != nil {
		return err
	}
	before, err := c.costs()
	if err != nil {
		return err
	}
	since := time.Now()
	after, took := before, time.Duration(0)
	return b.sample(fmt.Sprintf("an idle cluster of %d", goal.size), 2, within-time.Since(began), func(int) error {
		if err := b.wait(idleWindow); err != nil {
			return err
		}
		after, err = c.costs()
		took = time.Since(since)
		return err
	}, func() (rows []Row) {
		for _, m := range []struct {
			name, unit string
			goal       float64
			of         func(spent) float64
		}{
			{"CPU", "% of a core", goal.cpu, spent.cpu},
			{"memory", "MB of its own", 30, spent.memory},
			{"wake-ups", "voluntary switches/s", goal.wakeUps, spent.wakeUps},
			{"traffic", "kB/s sent", goal.sent, spent.traffic},
		} {
			var wanted *float64
			if m.goal > 0 {
				wanted = &m.goal
			}
			rows = append(rows, newRow(fmt.Sprintf("idle daemon in a cluster of %d, %s", goal.size, m.name), ofEach(before, after, took, m.of), m.unit, Lower, wanted, "",
				fmt.Sprintf("/proc and the interface over %v, nobody watches", took.Round(time.Second))))
		}
		return rows
	})
}

// ofEach is what all daemons used in some time.
func ofEach(before, after []usage, took time.Duration, of func(spent) float64) Estimate {
	var values []float64
	for i := range before {
		values = append(values, of(spent{before[i], after[i], took}))
	}
	return Every(values)
}

// costs are what every member has used, in order.
func (c *cluster) costs() ([]usage, error) {
	var all []usage
	for _, m := range c.members {
		used, err := usageOf(m.PID())
		if err != nil {
			return nil, err
		}
		_, sent, err := m.Traffic("lan0")
		if err != nil {
			return nil, err
		}
		used.sent = int(sent)
		all = append(all, used)
	}
	return all, nil
}
