package show

import (
	"fmt"
	"io"
	"net/netip"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Pending writes the Macs that ask, numbered where one is to be chosen.
func (v View) Pending(w io.Writer, all []api.Pending, numbered bool) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "No Mac asks.")
		return err
	}
	heading := []string{"NAME", "ID", "MODEL", "WHERE", "STATE", "SINCE"}
	if numbered {
		heading = append([]string{""}, heading...)
	}
	table := text.NewTable(heading...)
	for i, p := range all {
		row := []string{p.Name, p.Peer.Display(), orUnknown(p.ModelName), Where(p), string(p.State), text.Ago(v.Now, p.Since.Time)}
		if numbered {
			row = append([]string{fmt.Sprint(i + 1)}, row...)
		}
		table.Row(row...)
	}
	if err := table.Write(w); err != nil || numbered {
		return err
	}
	_, err := fmt.Fprintln(w, "\nNothing of this is proved before a code is right. Enter one with: fulmen pair --answer NAME")
	return err
}

// Where is from where a Mac asks: 192.168.1.7 over en0.
func Where(p api.Pending) string {
	at := ""
	if p.Address != (netip.AddrPort{}) {
		at = p.Address.Addr().String()
	}
	if p.Interface == "" {
		return orUnknown(at)
	}
	return join(" over ", at, p.Interface)
}

// TriesLeft counts the wrong codes that are still allowed: 2 tries left.
func TriesLeft(n int) string {
	switch n {
	case 0:
		return "no try left"
	case 1:
		return "1 try left"
	}
	return fmt.Sprintf("%d tries left", n)
}
