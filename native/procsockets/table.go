package procsockets

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strconv"

	"fulmen/native"
)

// row is one socket of the kernel's table.
type row struct {
	local, remote netip.AddrPort
	listens       bool
	waiting       int // connections that were not accepted yet, where it listens
	backlog       int // what it was told to have room for, where the kernel answered
	inode         string
	uid           uint32 // of the account that made it
}

// room is how many connections more a listener may be sent: the kernel makes room
// for one more than it was told, and keeps others waiting for a second.
func (r row) room() int { return max(0, r.backlog+1-r.waiting) }

// The kernel's numbers of states: connected, closed by the far end, LISTEN.
const (
	stateEstablished = "01"
	stateCloseWait   = "08"
	stateListen      = "0A"
)

// parseTable reads /proc/net/tcp or tcp6 (proc(5)) and gives the rows that one
// wants by its state and the text of its port, such as 1F90. What is no row is
// passed over.
func parseTable(table []byte, wants func(state, localPort []byte) bool) []row {
	var rows []row
	for line := range bytes.Lines(table) {
		// sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode
		fields := bytes.Fields(line)
		if len(fields) < 10 {
			continue
		}
		_, port, found := bytes.Cut(fields[1], []byte(":"))
		if !found || !wants(fields[3], port) {
			continue
		}
		local, ok := parseAddress(fields[1])
		remote, ok2 := parseAddress(fields[2])
		if !ok || !ok2 {
			continue
		}
		uid, err := strconv.ParseUint(string(fields[7]), 10, 32)
		if err != nil {
			continue
		}
		r := row{local: local, remote: remote, listens: string(fields[3]) == stateListen, inode: string(fields[9]), uid: uint32(uid)}
		if _, queue, found := bytes.Cut(fields[4], []byte(":")); found && r.listens {
			// Of a listening socket the queue to be read holds connections.
			n, err := strconv.ParseUint(string(queue), 16, 31)
			if err != nil {
				continue
			}
			r.waiting = int(n)
		}
		rows = append(rows, r)
	}
	return rows
}

// parseAddress reads an address with its port: words of 32 bits in this machine's
// order, in hexadecimal, and the port.
func parseAddress(text []byte) (netip.AddrPort, bool) {
	host, port, found := bytes.Cut(text, []byte(":"))
	number, err := strconv.ParseUint(string(port), 16, 16)
	if !found || err != nil || len(host) != 8 && len(host) != 32 {
		return netip.AddrPort{}, false
	}
	raw := make([]byte, len(host)/2)
	if _, err := hex.Decode(raw, host); err != nil {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(raw); i += 4 {
		binary.NativeEndian.PutUint32(raw[i:], binary.BigEndian.Uint32(raw[i:]))
	}
	a, ok := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(a.Unmap(), uint16(number)), ok
}

// inGroup reads /proc/PID/stat (proc(5)): the process group and the session are
// the fields behind the parent's id. The name before them may hold anything.
func inGroup(stat []byte, group int) bool {
	at := bytes.LastIndexByte(stat, ')')
	if at < 0 {
		return false
	}
	fields := bytes.Fields(stat[at+1:])
	number := strconv.Itoa(group)
	return len(fields) > 3 && (string(fields[2]) == number || string(fields[3]) == number)
}

// Processes are those of this machine. The zero value is ready.
type Processes struct{}

var _ native.Processes = Processes{}
