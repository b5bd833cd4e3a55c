package desk

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// patience bounds the end of a process that was asked to end.
const patience = 30 * time.Second

func afterPatience() <-chan time.Time { return time.After(patience) }

// Node is a member with its daemon.
type Node struct {
	// Mac is its name in the scenario.
	Mac string
	// Home is its FULMEN_HOME.
	Home string
	// ID and Client are those of the daemon that runs.
	ID     api.NodeID
	Client *client.Client
	// Said is what its daemons said.
	Said Said

	desk    *Desk
	process *exec.Cmd
	ended   chan struct{}
}

// Boot starts the daemon and connects to it.
func (n *Node) Boot(ctx context.Context) error {
	ready := n.Said.Await("msg=ready")
	n.process, n.ended = exec.Command(n.desk.options.Fulmend, "run", "--simulate", n.desk.options.Scenario+":"+n.Mac, "--world", n.desk.Socket(), "--rehearse", n.desk.options.Rehearse), make(chan struct{})
	n.desk.options.Account.Runs(n.process, n.Home)
	n.process.Stdout, n.process.Stderr = &n.Said, &n.Said
	if err := n.process.Start(); err != nil {
		n.process = nil
		return err
	}
	go func(process *exec.Cmd, ended chan struct{}) {
		process.Wait()
		close(ended)
	}(n.process, n.ended)
	if err := until(ctx, "the daemon of "+n.Mac+" to be ready", ready, n.ended, &n.Said); err != nil {
		return err
	}
	c, err := client.Dial(ctx, client.Options{Addresses: []client.Address{{Socket: n.Socket()}}})
	if err != nil {
		return err
	}
	n.Client = c
	info, err := client.Call[api.DaemonInfoResult](ctx, c, "daemon.info", nil)
	n.ID = info.Node
	return err
}

// Socket is the path of the daemon's Unix socket.
func (n *Node) Socket() string { return filepath.Join(n.Home, "run", api.SocketFile) }

// End ends the daemon with a signal, and by force where that does not end it. It
// waits for the end. A daemon that does not run is left alone.
func (n *Node) End(signal os.Signal) {
	if n.Client != nil {
		n.Client.Close()
		n.Client = nil
	}
	if n.process == nil {
		return
	}
	_ = n.process.Process.Signal(signal) // it may have ended
	select {
	case <-n.ended:
	case <-afterPatience():
		n.process.Process.Kill()
		<-n.ended
	}
	n.process = nil
}

// PID is the process of the daemon that runs.
func (n *Node) PID() int { return n.process.Process.Pid }

// Signal sends the daemon a signal that does not end it.
func (n *Node) Signal(signal os.Signal) error { return n.process.Process.Signal(signal) }

// Command is a program that runs as the desk's account, with this node's daemon
// as the one that is asked.
func (n *Node) Command(ctx context.Context, program string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, program, args...)
	n.desk.options.Account.Runs(c, n.Home)
	return c
}
