package linux

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/matryer/is"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

// namespaceMac is one machine.
type namespaceMac struct {
	t        *testing.T
	spec     scenario.Mac
	space    *namespace
	wiring   *namespace
	platform native.Platform
	etc      string

	// bench makes the files of /sys. What it says goes to said and from there
	// to the kernel.
	bench    workbench
	reported int

	hanging   map[int][]node // by receptacle
	addresses map[string]netip.Prefix
	pulled    []string // interfaces
}

func newNamespaceMac(t *testing.T, spec scenario.Mac, wiring *namespace) *namespaceMac {
	is := is.New(t)
	m := &namespaceMac{
		t: t, spec: spec, wiring: wiring, etc: t.TempDir(),
		hanging: map[int][]node{}, addresses: map[string]netip.Prefix{},
		bench: workbench{t: t, sys: t.TempDir()},
	}
	// Unlike datagrams between sockets, a sequence of packets is not bounded in
	// number.
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	is.NoErr(err)
	m.reported, m.bench.uevents = pair[0], []int{pair[1]}
	m.space, err = newNamespace()
	is.NoErr(err)
	t.Cleanup(func() {
		m.space.close()
		is.NoErr(errors.Join(unix.Close(pair[0]), unix.Close(pair[1])))
	})
	for _, port := range spec.Ports {
		// One controller each: all sockets of one would share its domain.
		m.bench.plugController(port.PortNumber-1, port.DomainUUID, "2.0", 1)
	}
	m.bench.write("class/infiniband/.keep", "")
	m.bench.remove("class/infiniband/.keep")
	m.unreported()
	is.NoErr(m.rename(spec.Identity.Name))
	for _, iface := range spec.Interfaces {
		is.NoErr(m.addInterface(iface.Name))
	}
	is.NoErr(m.space.do(func() error {
		for _, b := range spec.Bridges {
			if err := netlink.LinkAdd(&netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: b.Name}}); err != nil {
				return err
			}
		}
		return nil
	}))
	is.NoErr(m.space.do(func() (err error) {
		m.platform, err = New(Options{Sys: m.bench.sys, Proc: t.TempDir(), Etc: m.etc})
		return err
	}))
	m.platform.Facts = inNamespace{m.platform.Facts, m.space}
	t.Cleanup(func() { is.NoErr(m.platform.Close()) })
	return m
}

// far is the name of an interface's other end among the wires.
func (m *namespaceMac) far(iface string) string { return m.spec.Name + "-" + iface }

// addInterface adds a pair whose other end is with the wires, pulled out.
func (m *namespaceMac) addInterface(name string) error {
	return m.space.do(func() error {
		pair := veth(name, m.far(name))
		pair.PeerNamespace = netlink.NsFd(m.wiring.file)
		if err := netlink.LinkAdd(pair); err != nil {
			return err
		}
		return netlink.LinkSetUp(pair)
	})
}

// setLinks plugs and pulls the far ends, as far as they are not so already.
func (m *namespaceMac) setLinks(want func(*namespaceMac, scenario.Interface) bool) error {
	return m.wiring.do(func() error {
		for _, iface := range m.spec.Interfaces {
			far, err := netlink.LinkByName(m.far(iface.Name))
			if _, gone := err.(netlink.LinkNotFoundError); gone {
				continue
			}
			if err != nil {
				return err
			}
			up, set := far.Attrs().RawFlags&unix.IFF_UP != 0, netlink.LinkSetDown
			if want(m, iface) {
				up, set = !up, netlink.LinkSetUp
			}
			if !up {
				continue
			}
			if err := set(far); err != nil {
				return err
			}
		}
		return nil
	})
}

// untilUp waits until the kernel has said all that it has to say of the links
// that are up: it says so late.
func (m *namespaceMac) untilUp(want func(*namespaceMac, scenario.Interface) bool) {
	listen(m.t, m.platform).after("the links come up", func() error { return m.rename(m.spec.Identity.Name) }, native.AreaIdentity, "inotify.changed", "machine-info",
		func(native.Snapshot) bool {
			err := m.space.do(func() error {
				for _, iface := range m.spec.Interfaces {
					l, err := netlink.LinkByName(iface.Name)
					if err != nil {
						return err
					}
					if want(m, iface) && l.Attrs().OperState != netlink.OperUp {
						return errors.New("not yet")
					}
				}
				return nil
			})
			return err == nil
		})
}

func (m *namespaceMac) rename(name string) error {
	draft := filepath.Join(m.etc, ".machine-info")
	if err := os.WriteFile(draft, []byte(fmt.Sprintf("PRETTY_HOSTNAME=%q\n", name)), 0o600); err != nil {
		return err
	}
	return os.Rename(draft, filepath.Join(m.etc, "machine-info"))
}

// set changes a name, or something of an interface.
func (m *namespaceMac) set(key, value string) error {
	if key == "name" {
		return m.rename(value)
	}
	name, key := key[:max(0, len(key)-len(filepath.Ext(key)))], filepath.Ext(key)
	switch key {
	case ".link":
		m.pulled = slices.DeleteFunc(m.pulled, func(pulled string) bool { return pulled == name })
		if value == "down" {
			m.pulled = append(m.pulled, name)
		}
		return nil
	case ".present":
		if value == "yes" {
			return m.addInterface(name)
		}
		return m.space.do(func() error { return netlink.LinkDel(veth(name, "")) })
	case ".address":
		return m.setAddress(name, value)
	case ".bridge":
		return m.space.do(func() error {
			if value == "none" {
				return netlink.LinkSetNoMaster(named(m.t, name))
			}
			return netlink.LinkSetMaster(named(m.t, name), named(m.t, value))
		})
	}
	return errors.New("no machine of this desk can")
}

// setAddress puts an address in the place of all others.
func (m *namespaceMac) setAddress(name, value string) error {
	prefix := netip.Prefix{}
	if value != "none" {
		address, err := scenario.ParseAddress(value)
		if err != nil {
			return err
		}
		prefix = address.Address
	}
	m.addresses[name] = prefix
	// Before the kernel speaks, because a device's table is made of addresses.
	m.notifyDevice(name, "")
	return m.space.do(func() error {
		l := named(m.t, name)
		old, err := netlink.AddrList(l, netlink.FAMILY_V4)
		if err != nil {
			return err
		}
		for _, a := range old {
			if err := netlink.AddrDel(l, &a); err != nil {
				return err
			}
		}
		if !prefix.IsValid() {
			return nil
		}
		added, err := netlink.ParseAddr(prefix.String())
		if err != nil {
			return err
		}
		return netlink.AddrAdd(l, added)
	})
}
