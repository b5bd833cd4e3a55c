package rdma

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"
	"github.com/vishvananda/netlink"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/netns"
	"fulmen/native"
	"fulmen/native/linux"
)

// kernel is a network namespace in place of a Mac's network: three interfaces in a
// bridge, as a Mac's Thunderbolt ports are. The kernel's network is real; that there
// are Thunderbolt ports and RDMA devices is not.
type kernel struct {
	space    *netns.Space
	platform native.Platform

	mu      sync.Mutex
	changed func()
}

// ports are the interfaces by receptacle, from 1.
var ports = []string{"en1", "en2", "en3"}

func newKernel(t testing.TB, name string) *kernel {
	t.Helper()
	space, err := netns.New(name)
	if err != nil {
		t.Fatal(err)
	}
	k := &kernel{space: space, changed: func() {}}
	if k.platform, err = linux.New(linux.Options{}); err != nil {
		t.Fatal(err)
	}
	err = space.Do(func() error {
		bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "bridge0"}}
		err := errors.Join(netlink.LinkAdd(bridge), netlink.LinkSetUp(bridge))
		for _, name := range ports {
			far := "far" + name
			pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name, MasterIndex: bridge.Index}, PeerName: far}
			err = errors.Join(err, netlink.LinkAdd(pair), netlink.LinkSetUp(pair))
			other, missing := netlink.LinkByName(far)
			err = errors.Join(err, missing)
			if missing == nil {
				err = errors.Join(err, netlink.LinkSetUp(other))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *kernel) close() {
	_ = k.platform.Close()
	k.space.Close()
}

func (k *kernel) follow(f func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.changed = f
}

func (k *kernel) notify() {
	k.mu.Lock()
	changed := k.changed
	k.mu.Unlock()
	changed()
}

// do changes the network there. The hint comes a moment later, on the test's time: a
// watch of the kernel's own would keep virtual time from passing.
func (k *kernel) do(f func() error) error {
	defer time.AfterFunc(10*time.Millisecond, k.notify)
	return k.space.Do(f)
}

func (k *kernel) CreateService(ctx context.Context, spec native.ServiceSpec) (made native.NetworkService, err error) {
	err = k.do(func() (err error) {
		made, err = k.platform.Network.CreateService(ctx, spec)
		return err
	})
	return made, err
}

func (k *kernel) DeleteService(ctx context.Context, expected native.NetworkService) error {
	return k.do(func() error { return k.platform.Network.DeleteService(ctx, expected) })
}

func (k *kernel) SetBridgeMember(ctx context.Context, bridge, iface string, member bool) error {
	return k.do(func() error { return k.platform.Network.SetBridgeMember(ctx, bridge, iface, member) })
}

// Snapshot reads the kernel's network, and makes of it what the ports would show.
func (k *kernel) Snapshot(ctx context.Context, _ ...native.Area) (s native.Snapshot, err error) {
	err = k.space.Do(func() (err error) {
		s, err = k.platform.Facts.Snapshot(ctx, native.AreaNetwork)
		return err
	})
	if err != nil || s.Network == nil {
		return s, err
	}
	s.Thunderbolt, s.RDMA = &native.Thunderbolt{}, &native.RDMA{}
	for i, name := range ports {
		s.Thunderbolt.Ports = append(s.Thunderbolt.Ports, native.Port{PortNumber: i + 1, Interface: name})
		device := native.RDMADevice{Name: "rdma_" + name, Interface: name, PortState: native.RDMAPortActive}
		if there, known := s.Network.Interface(name); known {
			for _, a := range there.Addresses {
				if a.Address.Addr().Is4() {
					device.GIDs = append(device.GIDs, native.GID{Index: 1, Address: netip.AddrFrom16(a.Address.Addr().As16())})
				}
			}
		}
		s.RDMA.Devices = append(s.RDMA.Devices, device)
	}
	return s, nil
}

// picture is what the kernel has of bridges, addresses and labels.
func (k *kernel) picture() string {
	s, err := k.Snapshot(context.Background())
	if err != nil || s.Network == nil {
		return fmt.Sprint("unreadable: ", err)
	}
	var lines []string
	for _, b := range s.Network.Bridges {
		slices.Sort(b.KernelMembers)
		lines = append(lines, fmt.Sprint(b.Name, b.KernelMembers))
	}
	for _, i := range s.Network.Interfaces {
		for _, a := range i.Addresses {
			if a.Address.Addr().Is4() && i.Name != "lo" {
				lines = append(lines, i.Name+" "+a.Address.String())
			}
		}
	}
	for _, one := range s.Network.Services {
		lines = append(lines, fmt.Sprint(one.Name, one.Addresses))
	}
	return strings.Join(lines, "; ")
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("network namespaces need root")
	}
}

// overKernels lays a table of hosts with networks of the kernel's.
func overKernels(t testing.TB, nodes ...api.NodeID) *table {
	var all []*kernel
	d := newTableOf(t, func(*mac) machine {
		all = append(all, newKernel(t, fmt.Sprint("rdma", len(all))))
		return all[len(all)-1]
	}, nodes...)
	d.after = func() {
		for _, k := range all {
			k.close()
		}
	}
	return d
}

// The same transaction over the kernel's own network: applied and read back, found as
// it was made, put back; and what somebody changed since stays and is told.
func TestOverLinux(t *testing.T) {
	needRoot(t)
	is := is.New(t)
	d := overKernels(t, pair...)
	defer d.close()
	link := cable(nodeA, 2, nodeB, 3)
	pictures := func() [2]string {
		return [2]string{d.hosts[nodeA].machine.picture(), d.hosts[nodeB].machine.picture()}
	}
	before := pictures()
	is.Equal(before[0], "bridge0[en1 en2 en3]")

	done, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
	is.NoErr(err)
	is.Equal(done[1].State, api.RDMAChangeActive)
	is.Equal(pictures()[0], "bridge0[en1 en3]; en2 169.254.1.1/30; Fulmen Thunderbolt 2[169.254.1.1/30]")
	is.Equal(pictures()[1], "bridge0[en1 en2]; en3 169.254.1.2/30; Fulmen Thunderbolt 3[169.254.1.2/30]")
	d.hosts[nodeB].again() // a daemon that died finds what it made
	again, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
	is.NoErr(err)
	is.Equal(again[0].Change, done[0].Change)
	is.True(d.owner(nodeA).Ours("en2:f2#" + d.index(t, nodeA, "en2")))
	_, err = d.owner(nodeA).Disable(t.Context(), ada, link)
	is.NoErr(err)
	is.Equal(pictures(), before)

	_, err = d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
	is.NoErr(err)
	far := d.hosts[nodeB].machine.(*kernel)
	is.NoErr(far.space.Do(func() error { // somebody makes the interface a member of another bridge
		other := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "mine"}}
		en3, err := netlink.LinkByName("en3")
		return errors.Join(err, netlink.LinkAdd(other), netlink.LinkSetMaster(en3, other))
	}))
	undone, err := d.owner(nodeA).Undo(t.Context(), ada, link)
	is.NoErr(err)
	is.Equal(pictures()[0], before[0])
	is.Equal(pictures()[1], "bridge0[en1 en2]; mine[en3]")
	is.Equal(undone[1].State, api.RDMAChangePartial)
	is.True(strings.Contains(undone[1].Message, "en3 belongs to the bridge mine"))
}

// index is an interface's number in the kernel.
func (d *table) index(t *testing.T, id api.NodeID, name string) string {
	t.Helper()
	s, err := d.hosts[id].machine.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i, _ := s.Network.Interface(name)
	return fmt.Sprint(i.Index)
}

// An end is killed at steps all along a change of the kernel's network and its way
// back: in the end both are changed, or both are as they were.
func TestDeathOverLinux(t *testing.T) {
	needRoot(t)
	stride := 8
	if os.Getenv("FULMEN_SOAK") != "" {
		stride = 1
	}
	runs := 0
	for _, undo := range []bool{false, true} {
		for at := 1; ; at += stride {
			touched, wrong := oneDeath(t, overKernels, cable(nodeA, 2, nodeB, 2), nodeA, nodeB, undo, at, deaths["killed, back after a second"])
			if wrong != "" {
				t.Fatalf("killed at touch %d, undo %v: %s", at, undo, wrong)
			}
			runs++
			if touched < at {
				break
			}
		}
	}
	t.Logf("%d deaths", runs)
}
