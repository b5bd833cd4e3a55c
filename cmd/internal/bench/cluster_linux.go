package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/netns"
	"fulmen/daemon/e2e/testcluster"
)

// wholeDeadline bounds the time until a cluster is paired and all see all.
const wholeDeadline = 3 * time.Minute

// cluster is daemons that are paired, each in a network namespace of its own, on
// one LAN.
type cluster struct {
	folder  string
	config  string
	spaces  []*netns.Space // the first has the bridge
	lan     *netns.Network
	members []*member
}

// member is one of the daemons.
type member struct {
	*netns.Space
	*testcluster.Daemon
}

// startCluster starts and pairs so many daemons, with more of a configuration. Close
// ends what was started, also after an error.
func (b *run) startCluster(size int, config string) (c *cluster, err error) {
	c = &cluster{config: config}
	b.report(fmt.Sprintf("a cluster of %d begins", size))
	defer func() {
		if errors.Is(err, netns.ErrNotRoot) {
			err = errNotMeasured("a cluster on one machine needs network namespaces, and they need root")
		}
	}()
	if c.folder, err = os.MkdirTemp("", "fulmen-bench-"); err != nil {
		return c, err
	}
	bridge, err := c.space("switch")
	if err != nil {
		return c, err
	}
	if c.lan, err = netns.NewNetwork(bridge, "lan"); err != nil {
		return c, err
	}
	ctx, cancel := context.WithTimeoutCause(b.ctx, wholeDeadline, fmt.Errorf("the cluster of %d was not whole in %v", size, wholeDeadline))
	defer cancel()
	for i := range size {
		if err := c.add(ctx, filepath.Join(filepath.Dir(b.worker), "fulmend"), i); err != nil {
			return c, fmt.Errorf("member %d: %w", i, err)
		}
	}
	for _, m := range c.members {
		if err := testcluster.SeesAlive(ctx, m.Client, size); err != nil {
			return c, fmt.Errorf("%s: %w", m.Name, errors.Join(err, context.Cause(ctx)))
		}
	}
	return c, nil
}

func (c *cluster) space(name string) (*netns.Space, error) {
	s, err := netns.New(name)
	if err == nil {
		c.spaces = append(c.spaces, s)
	}
	return s, err
}

// add starts a daemon on the LAN and has it join the first one.
func (c *cluster) add(ctx context.Context, program string, number int) error {
	space, err := c.space(fmt.Sprintf("bench-%d", number+1))
	if err != nil {
		return err
	}
	if err := c.lan.Plug(space, "lan0", fmt.Sprintf("10.77.0.%d/24", number+1)); err != nil {
		return err
	}
	m := &member{space, &testcluster.Daemon{Home: filepath.Join(c.folder, space.Name), Start: space.Start}}
	err = errors.Join(os.Mkdir(m.Home, 0o700), os.WriteFile(filepath.Join(m.Home, api.ConfigFile), []byte("[api]\nport = 0\n[endpoint]\nport = 0\n"+c.config), 0o600))
	if err != nil {
		return err
	}
	c.members = append(c.members, m)
	command := exec.Command(program)
	command.Env = append(os.Environ(), api.EnvHome+"="+m.Home)
	if err := m.Run(ctx, space.Name, command); err != nil {
		return fmt.Errorf("fulmend: %w; run make build", err)
	}
	if err := settled(ctx, m.Socket()); err != nil || number == 0 {
		return err
	}
	return testcluster.Join(ctx, c.members[0].Client, c.members[0].ID, m.Client, "")
}

// close ends the daemons and the networks.
func (c *cluster) close() {
	var all sync.WaitGroup
	for _, m := range c.members {
		all.Go(func() { m.End(syscall.SIGTERM) })
	}
	all.Wait()
	for _, s := range c.spaces {
		s.Close()
	}
	os.RemoveAll(c.folder)
}
