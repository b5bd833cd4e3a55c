package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

const (
	// base and each are how long a cluster may take to be whole: in all, and for
	// each Mac. The machine may have few cores.
	base, each = 40 * time.Second, 5 * time.Second
	// config is the configuration of each daemon: the first one's usual port
	// belongs to a real daemon.
	config = "# A Mac of a simulated cluster.\n[api]\nport = 0\n[endpoint]\nport = 0\n"
	// usualDrain is Cluster.drain: a daemon's own, and as much again.
	usualDrain = 10 * time.Second
	// callTimeout bounds calls of daemons that share a machine's few cores.
	callTimeout = 20 * time.Second
)

// Options say which cluster.
type Options struct {
	// Fulmend is the path of the daemon's program.
	Fulmend string
	// Scenario is a name, or a path that ends in .toml.
	Scenario string
	// Nodes is how many of its Macs, from the first; 0 = all.
	Nodes int
	// Folder is where everything is kept; it exists, and is Account's.
	Folder string
	// Account is the account under which the daemons run, and the jobs of all members.
	Account Account
	// Within is how long it may take until the cluster is whole; 0 = so long as
	// machines with few cores need for so many Macs.
	Within time.Duration
	// Print gets what is done, for a person; a line without its end.
	Print func(string)
}

// Cluster is a simulated cluster that runs.
type Cluster struct {
	// ID is the cluster's, once it is paired.
	ID api.ClusterID
	// Nodes are its Macs, in the scenario's order.
	Nodes []*Node
	// Deadline is when it is to be whole.
	Deadline time.Time

	options Options
	world   *process
	drain   time.Duration // how long its processes may take to end in order
}

// Node is a Mac of the cluster with its daemon.
type Node struct {
	// Mac is its name in the scenario.
	Mac string
	// Home is its FULMEN_HOME.
	Home string
	// ID is its id.
	ID api.NodeID

	process *process
	client  *client.Client
	seen    sight
}

// Start starts the world and the daemons and waits until all answer. Close ends
// what was started, also after an error.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	c := &Cluster{options: o, drain: usualDrain, Deadline: time.Now().Add(o.Within)}
	if o.Within == 0 {
		c.Deadline = time.Now().Add(base)
	}
	socket := filepath.Join(o.Folder, "world.sock")
	var err error
	c.world, err = start("The simulated world", nil, o.Account, nil, func(line string) bool { return strings.HasPrefix(line, "{") },
		o.Fulmend, "world", "--scenario", o.Scenario, "--socket", socket, "--with-stdin")
	if err != nil {
		return c, err
	}
	macs, err := c.macs(ctx)
	if err != nil {
		return c, err
	}
	if o.Within == 0 {
		c.Deadline = c.Deadline.Add(time.Duration(len(macs)) * each)
	}
	ctx, stopStart := context.WithDeadline(ctx, c.Deadline)
	defer stopStart()
	for _, mac := range macs {
		c.Nodes = append(c.Nodes, &Node{Mac: mac, Home: filepath.Join(o.Folder, mac)})
	}
	c.printf("Starting %d daemons…", len(macs))
	for _, n := range c.Nodes {
		if err := n.start(c, socket); err != nil {
			return c, err
		}
	}
	var all errgroup.Group
	for _, n := range c.Nodes {
		all.Go(func() error { return n.connect(ctx) })
	}
	return c, all.Wait()
}

// macs reads from the world's first line which Macs there are, and takes as many
// as are wanted.
func (c *Cluster) macs(ctx context.Context) ([]string, error) {
	ctx, stop := context.WithDeadline(ctx, c.Deadline)
	defer stop()
	line, err := c.world.await(ctx)
	if err != nil {
		return nil, err
	}
	var first struct {
		Macs []string `json:"macs"`
	}
	if err := json.Unmarshal([]byte(line), &first); err != nil || len(first.Macs) == 0 {
		return nil, api.Errorf(api.ReasonMalformedMessage, "fulmend", "The simulated world did not say which Macs it has: %q.", line)
	}
	for _, mac := range first.Macs {
		if !filepath.IsLocal(mac) || strings.ContainsRune(mac, filepath.Separator) {
			return nil, api.Errorf(api.ReasonBadValue, "", "The Mac name %q of the scenario cannot be used as a folder.", mac)
		}
	}
	if c.options.Nodes > len(first.Macs) {
		return nil, api.Errorf(api.ReasonBadValue, "nodes", "The scenario %s has %d Macs, not %d.", c.options.Scenario, len(first.Macs), c.options.Nodes)
	}
	if c.options.Nodes > 0 {
		return first.Macs[:c.options.Nodes], nil
	}
	return first.Macs, nil
}

func (c *Cluster) printf(format string, args ...any) {
	if c.options.Print != nil {
		c.options.Print(fmt.Sprintf(format, args...))
	}
}

// start starts the daemon of a Mac.
func (n *Node) start(c *Cluster, socket string) error {
	if err := os.MkdirAll(n.Home, 0o700); err != nil {
		return err
	}
	path := filepath.Join(n.Home, "config.toml")
	err := os.WriteFile(path, []byte(config), 0o600)
	if err = errors.Join(err, c.options.Account.Owns(path), c.options.Account.Owns(n.Home)); err != nil {
		return err
	}
	n.process, err = start("The daemon of "+n.Mac, c.world, c.options.Account, []string{api.EnvHome + "=" + n.Home},
		func(line string) bool { return strings.Contains(line, "msg=ready") },
		c.options.Fulmend, "run", "--simulate", c.options.Scenario+":"+n.Mac, "--world", socket)
	return err
}

// connect waits for the daemon and asks who it is.
func (n *Node) connect(ctx context.Context) error {
	if _, err := n.process.await(ctx); err != nil {
		return err
	}
	var err error
	n.client, err = client.Dial(ctx, client.Options{
		Addresses: []client.Address{{Socket: filepath.Join(n.Home, "run", api.SocketFile)}}, Timeout: callTimeout,
	})
	if err != nil {
		return err
	}
	info, err := client.Call[api.DaemonInfoResult](ctx, n.client, "daemon.info", nil)
	n.ID = info.Node
	return err
}

// Close ends the jobs, then the daemons in order, then the world, and whatever
// does not end by force. When it returns, no process is left.
func (c *Cluster) Close() error {
	var errs []error
	ctx, stop := context.WithTimeout(context.Background(), c.drain)
	defer stop()
	c.endJobs(ctx)
	for _, n := range c.Nodes {
		if n.client != nil {
			errs = append(errs, n.client.Close())
		}
		if n.process != nil {
			n.process.signal()
		}
	}
	deadline := time.Now().Add(c.drain)
	var stuck []*process
	end := func(p *process) {
		if p == nil {
			return
		}
		if !p.within(time.Until(deadline)) {
			stuck = append(stuck, p)
		}
		_ = p.life.Close() // it may be closed with the process
	}
	for _, n := range c.Nodes {
		end(n.process)
	}
	if c.world != nil {
		_ = c.world.life.Close()
		c.world.signal()
		deadline = time.Now().Add(c.drain)
		end(c.world)
	}
	for _, p := range stuck {
		errs = append(errs, fmt.Errorf("%s did not end within %v and was killed", p.name, c.drain))
	}
	if len(stuck) > 0 {
		// The group is not empty, so its number cannot mean another.
		errs = append(errs, syscall.Kill(-c.world.cmd.Process.Pid, syscall.SIGKILL))
	}
	for _, p := range stuck {
		<-p.ended
	}
	return errors.Join(errs...)
}
