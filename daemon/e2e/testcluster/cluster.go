package testcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sync/errgroup"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// Options say which cluster.
type Options struct {
	// Fulmend is the path of the daemon's program.
	Fulmend string
	// Scenario is the name of a shipped scenario, and Macs are those of it that
	// get a daemon.
	Scenario string
	Macs     []string
	// Folder is where everything is kept; it exists, and is Account's. Its path is
	// short, since sockets lie below it.
	Folder string
	// Config is added to the configuration of each daemon, in TOML.
	Config string
	// Rehearse is the program that plays both ranks where a cable is tested over RDMA;
	// empty: nobody does.
	Rehearse string
	// Account is the account under which the daemons, and the jobs of all members, run.
	Account Account
}

// Cluster is a cluster that runs.
type Cluster struct {
	// Nodes are its members, in the order of Options.Macs.
	Nodes []*Node

	options Options
	world   *exec.Cmd
	life    io.Closer // the world's standard input; the daemons end with the world
	ended   chan struct{}
	output  Output
}

// Start starts the world and the daemons, pairs them, and waits until each sees
// all. Close ends what was started, also after an error.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	d := &Cluster{options: o, ended: make(chan struct{})}
	if err := d.startWorld(ctx); err != nil {
		return d, err
	}
	for _, mac := range o.Macs {
		d.Nodes = append(d.Nodes, &Node{Daemon: Daemon{Home: filepath.Join(o.Folder, mac)}, Mac: mac, testcluster: d})
	}
	var all errgroup.Group
	for _, n := range d.Nodes {
		all.Go(func() error { return errors.Join(n.prepare(), n.Boot(ctx)) })
	}
	if err := all.Wait(); err != nil {
		return d, err
	}
	return d, d.pair(ctx)
}

func (d *Cluster) startWorld(ctx context.Context) error {
	ready := d.output.Await("{")
	d.world = exec.Command(d.options.Fulmend, "world", "--scenario", d.options.Scenario, "--socket", d.Socket(), "--with-stdin")
	d.options.Account.Runs(d.world, "")
	d.world.Stdout, d.world.Stderr = &d.output, &d.output
	life, err := d.world.StdinPipe()
	if err != nil {
		return err
	}
	d.life = life
	if err := d.world.Start(); err != nil {
		d.world = nil
		return fmt.Errorf("the simulated world: %w", err)
	}
	go func() {
		d.world.Wait()
		close(d.ended)
	}()
	return until(ctx, "the simulated world to be ready", ready, d.ended, &d.output)
}

// Socket is where the world is, for who wants to be one more Mac of it.
func (d *Cluster) Socket() string { return filepath.Join(d.options.Folder, "world.sock") }

// pair joins every daemon to the first one and has all of them lend to all.
func (d *Cluster) pair(ctx context.Context) error {
	first := d.Nodes[0]
	for _, n := range d.Nodes[1:] {
		if err := Join(ctx, first.Client, first.ID, n.Client, d.options.Account.Name); err != nil {
			return fmt.Errorf("%s joins %s: %w", n.Mac, first.Mac, err)
		}
	}
	if d.options.Account.Name != "" {
		if err := Lend(ctx, first.Client, d.options.Account.Name); err != nil {
			return fmt.Errorf("%s lends: %w", first.Mac, err)
		}
	}
	return d.Whole(ctx)
}

// Whole waits until every node sees all of them alive.
func (d *Cluster) Whole(ctx context.Context) error {
	for _, n := range d.Nodes {
		if err := SeesAlive(ctx, n.Client, len(d.Nodes)); err != nil {
			return fmt.Errorf("%s: %w", n.Mac, errors.Join(err, context.Cause(ctx)))
		}
	}
	return nil
}

// Lend has a node run the jobs of all members as an account.
func Lend(ctx context.Context, c *client.Client, account string) error {
	_, err := client.Call[api.Empty](ctx, c, "cluster.map_user", api.ClusterMapUserParams{Members: true, Account: account})
	if err != nil {
		return err
	}
	_, err = client.Call[api.Sharing](ctx, c, "cluster.set_sharing", api.ClusterSetSharingParams{Jobs: api.JobsMapped})
	return err
}

// Close ends the daemons, then the world. The folder stays.
func (d *Cluster) Close() {
	for _, n := range d.Nodes {
		n.End(syscall.SIGTERM)
	}
	if d.world == nil {
		return
	}
	d.life.Close()
	select {
	case <-d.ended:
	case <-afterTimeout():
		d.world.Process.Kill()
		<-d.ended
	}
}

// until waits for a word of a process.
func until(ctx context.Context, what string, ready, ended <-chan struct{}, output *Output) error {
	select {
	case <-ready:
		return nil
	case <-ended:
		return fmt.Errorf("waiting for %s: it ended: %s", what, output.End())
	case <-ctx.Done():
		return fmt.Errorf("waiting for %s: %w", what, context.Cause(ctx))
	}
}

// prepare makes a node's folder.
func (n *Node) prepare() error {
	if err := os.Mkdir(n.Home, 0o700); err != nil {
		return err
	}
	config := "[api]\nport = 0\n[endpoint]\nport = 0\n" + n.testcluster.options.Config
	if err := os.WriteFile(filepath.Join(n.Home, api.ConfigFile), []byte(config), 0o600); err != nil {
		return err
	}
	return n.testcluster.options.Account.Owns(n.Home, filepath.Join(n.Home, api.ConfigFile))
}
