package recording

import (
	"bytes"

	"github.com/BurntSushi/toml"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

// The parts of a scenario's file that recordings can tell. The encoder quotes
// what others wrote.
type (
	desk struct {
		Title  string      `toml:"title"`
		Macs   []deskMac   `toml:"mac"`
		Hubs   []deskHub   `toml:"hub,omitempty"`
		Cables []deskCable `toml:"cable,omitempty"`
	}
	deskMac struct {
		Name       string            `toml:"name"`
		Model      string            `toml:"model,omitempty"`
		Chip       string            `toml:"chip,omitempty"`
		OS         string            `toml:"os,omitempty"`
		RDMA       native.RDMASwitch `toml:"rdma"`
		RDMADriver bool              `toml:"rdma_driver"`
		RDMALimits *deskLimits       `toml:"rdma_limits,inline,omitempty"`
		Ports      []deskPort        `toml:"port"`
		Interfaces []deskInterface   `toml:"interface,omitempty"`
		Bridges    []deskBridge      `toml:"bridge,omitempty"`
	}
	deskLimits struct {
		QueuePairs        int `toml:"queue_pairs"`
		CompletionQueues  int `toml:"completion_queues"`
		MemoryRegions     int `toml:"memory_regions"`
		ProtectionDomains int `toml:"protection_domains"`
	}
	deskInterface struct {
		Name string               `toml:"name"`
		Type native.InterfaceType `toml:"type"`
	}
	deskBridge struct {
		Name    string   `toml:"name"`
		Members []string `toml:"members"`
	}
	deskPort struct {
		Receptacle     int                       `toml:"receptacle"`
		Capability     native.ThunderboltVersion `toml:"capability"`
		Place          string                    `toml:"place,omitempty"`
		BesideEthernet bool                      `toml:"beside_ethernet,omitempty"`
		DomainUUID     string                    `toml:"domain_uuid,omitempty"`
		Interface      string                    `toml:"interface,omitempty"`
	}
	deskHub struct {
		Name       string                    `toml:"name"`
		Vendor     string                    `toml:"vendor,omitempty"`
		Product    string                    `toml:"product,omitempty"`
		Capability native.ThunderboltVersion `toml:"capability"`
		Downstream int                       `toml:"downstream"`
	}
	deskCable struct {
		Ends  []string `toml:"ends"`
		Speed string   `toml:"speed,omitempty"`
	}
)

// Format writes a scenario made of recordings as a file that scenario.Parse
// reads: its Macs with their ports and RDMA switches, hubs and cables; of Macs that were
// recorded whole also the system, bridges, and what RDMA devices can have. What recordings
// do not tell (memory, networks, addresses, a time line) is for a person to add.
func Format(s scenario.Scenario) ([]byte, error) {
	file := desk{Title: s.Title}
	for _, m := range s.Macs {
		mac := deskMac{Name: m.Name, Model: m.Identity.Model, Chip: m.Identity.Chip, OS: m.Identity.OSVersion, RDMA: m.RDMA, RDMADriver: m.OSCapable}
		if m.Identity.OSBuild != "" && mac.OS != "" {
			mac.OS += "/" + m.Identity.OSBuild
		}
		if m.RDMALimits != nil {
			mac.RDMALimits = new(deskLimits(*m.RDMALimits))
		}
		for _, i := range m.Interfaces {
			if i.Type != native.InterfaceThunderbolt { // those come with the ports
				mac.Interfaces = append(mac.Interfaces, deskInterface{i.Name, i.Type})
			}
		}
		for _, b := range m.Bridges {
			mac.Bridges = append(mac.Bridges, deskBridge{b.Name, b.Members})
		}
		for _, p := range m.Ports {
			mac.Ports = append(mac.Ports, deskPort{p.Receptacle, p.Capability, p.Place, p.BesideEthernet, p.DomainUUID, p.Interface})
		}
		file.Macs = append(file.Macs, mac)
	}
	for _, h := range s.Hubs {
		file.Hubs = append(file.Hubs, deskHub{h.Name, h.Vendor, h.Product, h.Capability, h.Downstream})
	}
	for _, c := range s.Cables {
		cable := deskCable{Ends: []string{c.Ends[0].String(), c.Ends[1].String()}}
		if c.Speed.TxBitsPerS > 0 {
			cable.Speed = c.Speed.String()
		}
		file.Cables = append(file.Cables, cable)
	}
	var out bytes.Buffer
	encoder := toml.NewEncoder(&out)
	encoder.Indent = ""
	if err := encoder.Encode(file); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
