package linux

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/nativetest"
	"fulmen/native/sim/scenario"
)

// TestConformanceScripts plays on Linux what Linux has: networks for real, in
// namespaces of the test's own, and Thunderbolt and RDMA as files of a
// temporary /sys whose changes the kernel itself announces, because it was
// asked to.
func TestConformanceScripts(t *testing.T) {
	met := metHere(t)
	skipped := nativetest.RunScripts(t, func(t *testing.T, s nativetest.Script) {
		s.Want(t, "Linux, as far as this test may use it,", met...)
		s.Run(t, newNamespaceStage(t, s.Cluster))
	})
	if !slices.Contains(met, nativetest.NeedThunderbolt) {
		return // the machine lacks something, and the log says what
	}
	// What Linux has no word for, or nobody can bring about at will.
	for _, name := range skipped {
		if !slices.Contains([]string{"power", "pressure", "rdma-restart", "rdma-switch", "silence", "sleep"}, name) {
			t.Errorf("%s was skipped", name)
		}
	}
}

// metHere is what the test may do on this machine.
func metHere(t *testing.T) []nativetest.Need {
	if os.Geteuid() != 0 {
		t.Log("network namespaces need root")
		return nil
	}
	n, err := newNamespace()
	if err != nil {
		t.Logf("no network namespaces here: %v", err)
		return nil
	}
	defer n.close()
	met := []nativetest.Need{nativetest.NeedNetwork, nativetest.NeedBridge, nativetest.NeedName}
	if err := n.do(func() error {
		return errors.Join(ueventsReachUs(), reportUevent([]byte("change@/none\x00SUBSYSTEM=none\x00")))
	}); err != nil {
		t.Logf("no uevents can be made here: %v", err)
		return met
	}
	return append(met, nativetest.NeedThunderbolt, nativetest.NeedHub, nativetest.NeedRDMA, nativetest.NeedCableNetwork)
}

// namespaceStage is a stage of Macs that are network namespaces, each with a /sys
// of its own. What is at the far end of their interfaces is in one more.
type namespaceStage struct {
	t       *testing.T
	cluster scenario.Scenario
	wiring  *namespace
	macs    []*namespaceMac
	cables  []cable
	down    []string // networks
}

func newNamespaceStage(t *testing.T, cluster scenario.Scenario) *namespaceStage {
	is := is.New(t)
	d := &namespaceStage{t: t, cluster: cluster}
	var err error
	d.wiring, err = newNamespace()
	is.NoErr(err)
	t.Cleanup(d.wiring.close)
	for _, mac := range cluster.Macs {
		d.macs = append(d.macs, newNamespaceMac(t, mac, d.wiring))
	}
	is.NoErr(d.settle())
	for _, m := range d.macs {
		m.untilUp(d.wantsLink)
	}
	return d
}

// Platform returns the Mac of that name.
func (d *namespaceStage) Platform(name string) (native.Platform, error) {
	m, err := d.mac(name)
	if err != nil {
		return native.Platform{}, err
	}
	return m.platform, nil
}

func (d *namespaceStage) mac(name string) (*namespaceMac, error) {
	i := slices.IndexFunc(d.macs, func(m *namespaceMac) bool { return m.spec.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("no machine %q", name)
	}
	return d.macs[i], nil
}

// Do makes a change, and whatever follows from it on any machine.
func (d *namespaceStage) Do(op scenario.Op) error {
	if err := d.change(op); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return d.settle()
}

func (d *namespaceStage) change(op scenario.Op) error {
	switch op.Verb {
	case scenario.VerbPlug:
		if op.Speed.TxBitsPerS == 0 {
			return errors.New("a script says how fast its cable is")
		}
		d.cables = append(d.cables, cable{[2]scenario.End{op.Ends[0], op.Ends[1]}, op.Speed})
		return nil
	case scenario.VerbUnplug:
		d.cables = slices.DeleteFunc(d.cables, func(c cable) bool { return slices.Contains(c.ends[:], op.Ends[0]) })
		return nil
	case scenario.VerbRetrain:
		for i, c := range d.cables {
			if far, _, ok := c.from(op.Ends[0]); ok {
				d.cables[i] = cable{[2]scenario.End{op.Ends[0], far}, op.Speed}
			}
		}
		return nil
	case scenario.VerbSet:
		if op.Key == "link" {
			d.down = slices.DeleteFunc(d.down, func(name string) bool { return name == op.Owner })
			if op.Value == "down" {
				d.down = append(d.down, op.Owner)
			}
			return nil
		}
		m, err := d.mac(op.Owner)
		if err != nil {
			return err
		}
		return m.set(op.Key, op.Value)
	}
	return errors.New("no machine of this desk can")
}

// settle lets every machine follow the cables: first the files, then what the
// kernel says of them.
func (d *namespaceStage) settle() error {
	for _, m := range d.macs {
		m.notifyRDMA(d.wantsLink)
		if err := m.setLinks(d.wantsLink); err != nil {
			return err
		}
		for _, port := range m.spec.Ports {
			if err := m.setBelow(port, d.below(scenario.End{Owner: m.spec.Name, PortNumber: port.PortNumber})); err != nil {
				return err
			}
		}
	}
	return nil
}

// wantsLink reports whether something answers at the other end of an interface.
func (d *namespaceStage) wantsLink(m *namespaceMac, iface scenario.Interface) bool {
	if slices.Contains(m.pulled, iface.Name) {
		return false
	}
	if iface.Network != "" {
		return !slices.Contains(d.down, iface.Network)
	}
	return slices.ContainsFunc(m.spec.Ports, func(port scenario.Port) bool {
		return port.Interface == iface.Name && slices.ContainsFunc(
			d.below(scenario.End{Owner: m.spec.Name, PortNumber: port.PortNumber}), node.isPeer)
	})
}
