package netns

import (
	"errors"
	"fmt"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Network joins interfaces of spaces: a bridge in a space of its own, so that it
// can carry nothing without that any interface notices.
type Network struct {
	at    *Space
	name  string
	ports []port
}

// port is the bridge's end of a cable to a space.
type port struct {
	to   *Space
	name string
}

// NewNetwork makes a network in a space where no host is. The name has at most
// five characters.
func NewNetwork(at *Space, name string) (*Network, error) {
	// Nobody asks here who listens to what.
	snooping := false
	return &Network{at: at, name: name}, at.Do(func() error {
		err := netlink.LinkAdd(&netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: name}, MulticastSnooping: &snooping})
		return errors.Join(err, setUp(name))
	})
}

// Plug joins a space to the network by a new interface with an address of IPv4,
// and what the system adds of fe80::/10.
func (n *Network) Plug(to *Space, iface, address string) error {
	end := port{to, fmt.Sprintf("%s.%d", n.name, len(n.ports))}
	err := n.at.Do(func() error {
		pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: end.name}, PeerName: iface}
		if err := netlink.LinkAdd(pair); err != nil {
			return err
		}
		far, err := netlink.LinkByName(iface)
		if err != nil {
			return err
		}
		return errors.Join(netlink.LinkSetNsFd(far, to.file), setUp(end.name), n.attach(end))
	})
	if err != nil {
		return err
	}
	n.ports = append(n.ports, end)
	return to.Do(func() error {
		link, err := netlink.LinkByName(iface)
		if err != nil {
			return err
		}
		parsed, err := netlink.ParseAddr(address)
		if err != nil {
			return err
		}
		return errors.Join(netlink.AddrAdd(link, parsed), netlink.LinkSetUp(link), slow(link, usualBytesPerS))
	})
}

// usualBytesPerS is how fast a network is: what is measured over it costs processor.
const usualBytesPerS = 250e6

// SetRate has a space send at another rate, in bytes a second.
func (s *Space) SetRate(iface string, bytesPerS uint64) error {
	return s.Do(func() error {
		link, err := netlink.LinkByName(iface)
		if err != nil {
			return err
		}
		return slow(link, bytesPerS)
	})
}

// slow bounds what an interface sends; it stays as fast as the machine where the kernel
// cannot do that.
func slow(link netlink.Link, bytesPerS uint64) error {
	const burst = 1 << 20
	err := netlink.QdiscReplace(&netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: link.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
		Rate:       bytesPerS, Limit: 8 * burst, Buffer: netlink.Xmittime(bytesPerS, burst),
	})
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// Cut ends what passes between spaces and the rest, silently: the interfaces keep
// their link. None named: between all.
func (n *Network) Cut(spaces ...*Space) error {
	return n.each(spaces, func(p port) error {
		link, err := netlink.LinkByName(p.name)
		if err != nil {
			return err
		}
		return netlink.LinkSetNoMaster(link)
	})
}

// Heal ends a cut.
func (n *Network) Heal(spaces ...*Space) error { return n.each(spaces, n.attach) }

// Pull takes the cables to spaces out: the interfaces lose their link.
func (n *Network) Pull(spaces ...*Space) error {
	return n.each(spaces, func(p port) error {
		link, err := netlink.LinkByName(p.name)
		if err != nil {
			return err
		}
		return netlink.LinkSetDown(link)
	})
}

// Replug puts them in again.
func (n *Network) Replug(spaces ...*Space) error {
	return n.each(spaces, func(p port) error { return setUp(p.name) })
}

// each does something with the ports that lead to spaces; none named: with all.
func (n *Network) each(spaces []*Space, f func(port) error) error {
	return n.at.Do(func() error {
		var errs []error
		for _, p := range n.ports {
			if len(spaces) == 0 || slices.Contains(spaces, p.to) {
				errs = append(errs, f(p))
			}
		}
		return errors.Join(errs...)
	})
}

// attach puts a port to the bridge; it is called where the bridge is.
func (n *Network) attach(p port) error {
	bridge, err := netlink.LinkByName(n.name)
	if err != nil {
		return err
	}
	link, err := netlink.LinkByName(p.name)
	if err != nil {
		return err
	}
	return netlink.LinkSetMaster(link, bridge)
}
