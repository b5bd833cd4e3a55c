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
		RDMA       native.RDMASwitch `toml:"rdma"`
		RDMADriver bool              `toml:"rdma_driver"`
		Ports      []deskPort        `toml:"port"`
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
// reads: its Macs with their ports and RDMA switches, hubs and cables. What
// recordings do not tell (memory, networks, a time line) is for a person to add.
func Format(s scenario.Scenario) ([]byte, error) {
	file := desk{Title: s.Title}
	for _, m := range s.Macs {
		mac := deskMac{Name: m.Name, Model: m.Identity.Model, RDMA: m.RDMA, RDMADriver: m.OSCapable}
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
