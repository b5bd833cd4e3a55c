package linux

import (
	"bytes"
	"net/netip"
	"os"
	"path/filepath"
	"slices"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

// notifyRDMA gives every receptacle's device the state of its interface. The
// kernel says nothing of it but what it says of the interface.
func (m *namespaceMac) notifyRDMA(want func(*namespaceMac, scenario.Interface) bool) {
	for _, iface := range m.spec.Interfaces {
		state := "1: DOWN"
		if want(m, iface) {
			state = "4: ACTIVE"
		}
		m.notifyDevice(iface.Name, state)
	}
}

// notifyDevice writes the device of a receptacle's interface; an empty state is
// that which it has.
func (m *namespaceMac) notifyDevice(iface, state string) {
	if !slices.ContainsFunc(m.spec.Ports, func(p scenario.Port) bool { return p.Interface == iface }) {
		return
	}
	name := "rdma_" + iface
	folder := filepath.Join("class/infiniband", name, "ports/1")
	if state == "" {
		data, err := os.ReadFile(filepath.Join(m.bench.sys, folder, "state"))
		is.New(m.t).NoErr(err)
		state = string(bytes.TrimSpace(data))
	}
	gids := []string{netip.MustParseAddr("fe80::1").StringExpanded()}
	if address := m.addresses[iface]; address.IsValid() {
		gids = append(gids, netip.AddrFrom16(address.Addr().As16()).StringExpanded())
	} else {
		m.bench.remove(filepath.Join(folder, "gids/1"))
	}
	m.bench.plugRDMA(name, iface, state, "80 Gb/sec (2X NDR)", gids...)
	m.unreported()
}

// setBelow plugs and pulls what hangs on a receptacle, and has the kernel say so.
func (m *namespaceMac) setBelow(port scenario.Port, nodes []node) error {
	domain, old := port.PortNumber-1, m.hanging[port.PortNumber]
	m.hanging[port.PortNumber] = nodes
	sameDevice := func(a, b node) bool { a.lanes = b.lanes; return a == b }
	if slices.EqualFunc(old, nodes, sameDevice) {
		for i, n := range nodes {
			if n != old[i] {
				m.bench.retrain(domain, n.route, n.lanes)
			}
		}
		return m.report()
	}
	if len(old) > 0 {
		m.bench.unplug(domain, 1)
	}
	for _, n := range nodes {
		if n.isPeer() {
			m.bench.plugPeer(domain, n.route, n.uuid, n.vendor, n.name, n.lanes, "", native.PeerService{ProtocolID: native.ProtocolIP, Version: 1})
		} else {
			m.bench.plugHub(domain, n.route, n.vendor, n.name, n.lanes)
		}
	}
	return m.report()
}

// messages takes what the bench has said.
func (m *namespaceMac) messages() (all [][]byte) {
	for {
		buffer := make([]byte, mostUeventBytes)
		n, err := unix.Read(m.reported, buffer)
		if err != nil {
			return all
		}
		all = append(all, buffer[:n])
	}
}

// unreported drops what the bench has said.
func (m *namespaceMac) unreported() { m.messages() }

// report has the kernel say what the bench has said.
func (m *namespaceMac) report() error {
	for _, message := range m.messages() {
		message = message[:bytes.LastIndex(message, []byte("SEQNUM="))]
		if err := m.space.do(func() error { return reportUevent(message) }); err != nil {
			return err
		}
	}
	return nil
}
