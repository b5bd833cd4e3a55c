package recording

import (
	"fmt"

	"fulmen/native/sim/scenario"
)

// Scenario is a simulated cluster in a few words, each line as its file has it.
type Scenario struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Macs     []string `json:"macs"`
	Hubs     []string `json:"hubs"`
	Networks []string `json:"networks"`
	// Cables are "studio-1.tb2 studio-2.tb1", with the speed where the file has one.
	Cables   []string `json:"cables"`
	TimeLine []string `json:"time_line"`
}

func summarise(s scenario.Scenario) Scenario {
	out := Scenario{Name: s.Name, Title: s.Title, Macs: []string{}, Hubs: []string{}, Networks: []string{}, Cables: []string{}, TimeLine: []string{}}
	for _, m := range s.Macs {
		out.Macs = append(out.Macs, m.Name)
	}
	for _, h := range s.Hubs {
		out.Hubs = append(out.Hubs, h.Name)
	}
	for _, n := range s.Networks {
		out.Networks = append(out.Networks, n.Name)
	}
	for _, c := range s.Cables {
		line := c.Ends[0].String() + " " + c.Ends[1].String()
		if c.Speed.TxBitsPerS > 0 {
			line += " " + c.Speed.String()
		}
		out.Cables = append(out.Cables, line)
	}
	for _, e := range s.TimeLine {
		out.TimeLine = append(out.TimeLine, fmt.Sprintf("%s %s", e.After, e.Op))
	}
	return out
}
