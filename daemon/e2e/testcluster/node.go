package testcluster

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// timeout bounds the end of a process that was asked to end.
const timeout = 30 * time.Second

func afterTimeout() <-chan time.Time { return time.After(timeout) }

// Daemon is a daemon in a folder of its own.
type Daemon struct {
	// Home is its FULMEN_HOME.
	Home string
	// ID and Client are those of the daemon that runs.
	ID     api.NodeID
	Client *client.Client
	// Output is what its processes said.
	Output Output
	// Start starts its process; nil: [exec.Cmd.Start] does.
	Start func(*exec.Cmd) error

	process *exec.Cmd
	ended   chan struct{}
}

// Run starts a command as the daemon and connects to it.
func (d *Daemon) Run(ctx context.Context, what string, command *exec.Cmd) error {
	ready := d.Output.Await("msg=ready")
	command.Stdout, command.Stderr = &d.Output, &d.Output
	start := d.Start
	if start == nil {
		start = (*exec.Cmd).Start
	}
	if err := start(command); err != nil {
		return err
	}
	ended := make(chan struct{})
	d.process, d.ended = command, ended
	go func() {
		command.Wait()
		close(ended)
	}()
	if err := until(ctx, what+" to be ready", ready, ended, &d.Output); err != nil {
		return err
	}
	c, err := client.Dial(ctx, client.Options{Addresses: []client.Address{{Socket: d.Socket()}}})
	if err != nil {
		return err
	}
	d.Client = c
	info, err := client.Call[api.DaemonInfoResult](ctx, c, "daemon.info", nil)
	d.ID = info.Node
	return err
}

// Socket is the path of the daemon's Unix socket.
func (d *Daemon) Socket() string { return filepath.Join(d.Home, "run", api.SocketFile) }

// End ends the daemon with a signal, and by force where that does not end it. It
// waits for the end. A daemon that does not run is left alone.
func (d *Daemon) End(signal os.Signal) {
	if d.Client != nil {
		d.Client.Close()
		d.Client = nil
	}
	if d.process == nil {
		return
	}
	_ = d.process.Process.Signal(signal) // it may have ended
	select {
	case <-d.ended:
	case <-afterTimeout():
		d.process.Process.Kill()
		<-d.ended
	}
	d.process = nil
}

// PID is the process of the daemon that runs.
func (d *Daemon) PID() int { return d.process.Process.Pid }

// Signal sends the daemon a signal that does not end it.
func (d *Daemon) Signal(signal os.Signal) error { return d.process.Process.Signal(signal) }

// Node is a member with its daemon.
type Node struct {
	Daemon
	// Mac is its name in the scenario.
	Mac string

	testcluster *Cluster
}

// Boot starts the daemon and connects to it.
func (n *Node) Boot(ctx context.Context) error {
	o := n.testcluster.options
	command := exec.Command(o.Fulmend, "run", "--simulate", o.Scenario+":"+n.Mac, "--world", n.testcluster.Socket(), "--rehearse", o.Rehearse)
	o.Account.Runs(command, n.Home)
	return n.Run(ctx, "the daemon of "+n.Mac, command)
}

// Command is a program that runs as the cluster's account, with this node's daemon
// as the one that is asked.
func (n *Node) Command(ctx context.Context, program string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, program, args...)
	n.testcluster.options.Account.Runs(c, n.Home)
	return c
}
