package show

import (
	"fmt"
	"io"
	"net/netip"

	"fulmen/app/text"
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
		table.Row(choose(p.LAN, "lan:", "")+fmt.Sprint(p.Port), openAt(p), choose(p.Key != "", bearer(p), none))
	}
	fmt.Fprintln(w)
	return table.Write(w)
}

// PublishedLines says the same in sentences, one a port.
func (v View) PublishedLines(all []api.PublishedPort) []string {
	var lines []string
	for _, p := range all {
		line := fmt.Sprintf("port %d is open at %s", p.Port, openAt(p))
		if p.Problem != nil {
			line = fmt.Sprintf("port %d is %s", p.Port, openAt(p))
		} else if p.Key != "" {
			line += "; requests bear " + bearer(p)
		}
		lines = append(lines, line)
	}
	return lines
}

func bearer(p api.PublishedPort) string { return "Authorization: Bearer " + p.Key }

// openAt is where a port is open, or why it is not.
func openAt(p api.PublishedPort) string {
	at := ""
	for _, a := range p.Addresses {
		at = join(", ", at, a.String())
	}
	switch {
	case p.Problem != nil:
		return "not open: " + text.Clean(p.Problem.Message)
	case at == "":
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(p.Port)).String() + " (rank 0's own)"
	}
	return at
}
