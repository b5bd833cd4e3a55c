package nativetest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fulmen/native"
	"fulmen/native/nativetest"
	"fulmen/native/sim/scenario"
)

// stage is a stage of machines in memory, which know interfaces, bridges, names
// and memory pressure.
type stage map[string]*nativetest.Machine

var stageMeets = []nativetest.Need{
	nativetest.NeedNetwork, nativetest.NeedBridge, nativetest.NeedPressure, nativetest.NeedName,
}

func newStage(cluster scenario.Scenario) stage {
	clock := nativetest.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	d := stage{}
	for _, mac := range cluster.Macs {
		s := native.Snapshot{Identity: &mac.Identity, Memory: facts().Memory, Network: &native.Network{
			Interfaces: []native.Interface{}, Bridges: []native.Bridge{}, Services: []native.NetworkService{},
			Unknown: native.Reasons{"primary_interface": native.ReasonNotConnected},
		}}
		for _, i := range mac.Interfaces {
			s.Network.Interfaces = append(s.Network.Interfaces, stageInterface(i))
		}
		for _, b := range mac.Bridges {
			members := append([]string{}, b.Members...)
			s.Network.Bridges = append(s.Network.Bridges, native.Bridge{
				Name: b.Name, KernelMembers: members, StoredMembers: members, Active: new(true),
			})
		}
		explain(&s)
		d[mac.Name] = nativetest.NewMachine(clock, s)
	}
	return d
}

// explain gives a reason to what the scenario leaves open.
func explain(s *native.Snapshot) {
	for _, problem := range s.Check(nil) {
		path, absent := strings.CutSuffix(problem, ": absent without a reason")
		if field, ok := strings.CutPrefix(path, "identity."); ok && absent {
			s.Identity.Unknown.Add(field, native.ReasonNotInScenario)
		}
	}
}

func stageInterface(i scenario.Interface) native.Interface {
	addresses := slices.Clone(i.Addresses)
	if addresses == nil {
		addresses = []native.InterfaceAddress{}
	}
	return native.Interface{
		Name: i.Name, Type: i.Type, Index: 1, Addresses: addresses, Up: new(true), Link: new(i.LinkUp),
		MTUBytes: new(int64(1500)), Expensive: new(false), SpeedBitsPerS: new(int64(10e9)),
	}
}

func (d stage) Platform(mac string) (native.Platform, error) {
	m, ok := d[mac]
	if !ok {
		return native.Platform{}, fmt.Errorf("no machine %q", mac)
	}
	return m.Platform(), nil
}

func (d stage) Do(op scenario.Op) error {
	m, ok := d[op.Owner]
	if op.Verb != scenario.VerbSet || !ok {
		return fmt.Errorf("a desk in memory cannot %s", op)
	}
	switch op.Key {
	case "name":
		m.Change(func(s *native.Snapshot) { s.Identity.Name = op.Value }, native.AreaIdentity)
		return nil
	case "memory.pressure":
		m.Change(func(s *native.Snapshot) { s.Memory.Pressure = native.Pressure(op.Value) }, native.AreaMemory)
		return nil
	}
	var err error
	m.Change(func(s *native.Snapshot) { err = changeNetwork(s.Network, op) }, native.AreaNetwork)
	return err
}

func changeNetwork(n *native.Network, op scenario.Op) error {
	name, key, _ := strings.Cut(op.Key, ".")
	if key == "present" {
		n.Interfaces = slices.DeleteFunc(n.Interfaces, func(i native.Interface) bool { return i.Name == name })
		if op.Value == "yes" {
			n.Interfaces = append(n.Interfaces, stageInterface(scenario.Interface{Name: name, Type: native.InterfaceEthernet, LinkUp: true}))
		}
		return nil
	}
	at := slices.IndexFunc(n.Interfaces, func(i native.Interface) bool { return i.Name == name })
	if at < 0 {
		return fmt.Errorf("no interface %q", name)
	}
	switch i := &n.Interfaces[at]; key {
	case "link":
		i.Link = new(op.Value == "up")
	case "address":
		i.Addresses = []native.InterfaceAddress{}
		if op.Value != "none" {
			address, err := scenario.ParseAddress(op.Value)
			if err != nil {
				return err
			}
			i.Addresses = append(i.Addresses, address)
		}
	case "bridge":
		for at := range n.Bridges {
			b := &n.Bridges[at]
			members := slices.DeleteFunc(slices.Clone(b.KernelMembers), func(m string) bool { return m == name })
			if b.Name == op.Value {
				members = append(members, name)
			}
			b.KernelMembers, b.StoredMembers = members, members
		}
	default:
		return fmt.Errorf("no key %q of an interface", key)
	}
	return nil
}

func TestScriptsInMemory(t *testing.T) {
	skipped := nativetest.RunScripts(t, func(t *testing.T, s nativetest.Script) {
		s.Want(t, "a machine in memory", stageMeets...)
		s.Run(t, newStage(s.Cluster))
	})
	for _, name := range []string{"address", "bridge", "interface-removed", "link", "pressure", "rename"} {
		if slices.Contains(skipped, name) {
			t.Errorf("%s was skipped", name)
		}
	}
}
