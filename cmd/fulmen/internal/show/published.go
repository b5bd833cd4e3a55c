package show

import (
	"fmt"
	"io"
	"net/netip"

	"fulmen/cmd/fulmen/internal/text"
	"fulmen/daemon/api"
)

// Published writes where the ports of a job are open on this node, and the key
// that requests from the network have to bear. It writes nothing where none is.
func (v View) Published(w io.Writer, all []api.PublishedPort) error {
	if len(all) == 0 {
		return nil
	}
	table := text.NewTable("PORT", "OPEN AT", "REQUESTS BEAR")
	for _, p := range all {
		at := ""
		for _, a := range p.Addresses {
			at = join(", ", at, a.String())
		}
		if p.Problem != nil {
			at = "not open: " + text.Clean(p.Problem.Message)
		} else if at == "" {
			at = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(p.Port)).String() + " (rank 0's own)"
		}
		key := none
		if p.Key != "" {
			key = "Authorization: Bearer " + p.Key
		}
		table.Row(choose(p.LAN, "lan:", "")+fmt.Sprint(p.Port), at, key)
	}
	fmt.Fprintln(w)
	return table.Write(w)
}
