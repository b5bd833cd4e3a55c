package recording

import (
	"bytes"

	"github.com/BurntSushi/toml"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

// The parts of a scenario's file that recordings can tell, as far as they are not
// written as the scenario has them. The encoder quotes what others wrote.
type (
	cluster struct {
		Title  string         `toml:"title"`
		Macs   []clusterMac   `toml:"mac"`
		Hubs   []scenario.Hub `toml:"hub,omitempty"`
		Cables []clusterCable `toml:"cable,omitempty"`
	}
	clusterMac struct {
		Name       string             `toml:"name"`
		Model      string             `toml:"model,omitempty"`
		Chip       string             `toml:"chip,omitempty"`
		OS         string             `toml:"os,omitempty"`
		RDMA       native.RDMASwitch  `toml:"rdma"`
		RDMADriver bool               `toml:"rdma_driver"`
		RDMALimits *native.RDMALimits `toml:"rdma_limits,inline,omitempty"`
		Ports      []scenario.Port    `toml:"port"`
		Interfaces []clusterInterface `toml:"interface,omitempty"`
		Bridges    []scenario.Bridge  `toml:"bridge,omitempty"`
	}
	clusterInterface struct {
		Name string               `toml:"name"`
		Type native.InterfaceType `toml:"type"`
	}
	clusterCable struct {
		Ends  []string `toml:"ends"`
		Speed string   `toml:"speed,omitempty"`
	}
)

// Format writes a scenario made of recordings as a file that scenario.Parse
// reads: its Macs with their ports and RDMA switches, hubs and cables; of Macs that were
// recorded whole also the system, bridges, and what RDMA devices can have. What recordings
// do not tell (memory, networks, addresses, a time line) is for a person to add.
func Format(s scenario.Scenario) ([]byte, error) {
	file := cluster{Title: s.Title, Hubs: s.Hubs}
	for _, m := range s.Macs {
		mac := clusterMac{
			Name: m.Name, Model: m.Identity.Model, Chip: m.Identity.Chip, OS: m.Identity.OSVersion,
			RDMA: m.RDMA, RDMADriver: m.OSCapable, RDMALimits: m.RDMALimits, Ports: m.Ports, Bridges: m.Bridges,
		}
		if m.Identity.OSBuild != "" && mac.OS != "" {
			mac.OS += "/" + m.Identity.OSBuild
		}
		for _, i := range m.Interfaces {
			if i.Type != native.InterfaceThunderbolt { // those come with the ports
				mac.Interfaces = append(mac.Interfaces, clusterInterface{i.Name, i.Type})
			}
		}
		file.Macs = append(file.Macs, mac)
	}
	for _, c := range s.Cables {
		cable := clusterCable{Ends: []string{c.Ends[0].String(), c.Ends[1].String()}}
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
