package linux

import (
	"cmp"
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"fulmen/native"
)

// mostGIDs bounds a port's table; the largest known has 256 entries.
const mostGIDs = 1024

// rdmaState reads a state such as "4: ACTIVE". The number is the verbs'.
func (t tree) rdmaState(file string) (native.RDMAPortState, error) {
	text, err := t.text(file)
	if err != nil {
		return "", err
	}
	return parseRDMAState(text)
}

func parseRDMAState(text string) (native.RDMAPortState, error) {
	switch text {
	case "1: DOWN":
		return native.RDMAPortDown, nil
	case "2: INIT":
		return native.RDMAPortInit, nil
	case "3: ARMED":
		return native.RDMAPortArmed, nil
	case "4: ACTIVE":
		return native.RDMAPortActive, nil
	}
	return "", malformedError(text)
}

// rdmaRate reads a rate such as "100 Gb/sec (4X EDR)", in bits per second.
func (t tree) rdmaRate(file string) (int64, error) {
	text, err := t.text(file)
	if err != nil {
		return 0, err
	}
	return parseRDMARate(text)
}

func parseRDMARate(text string) (int64, error) {
	number, lanes, ok := strings.Cut(text, " Gb/sec (")
	speed, err := native.ParseLinkSpeed(number + " Gb/s")
	if !ok || !strings.HasSuffix(lanes, ")") || err != nil || speed.UpTo || speed.TxBitsPerS != speed.RxBitsPerS {
		return 0, malformedError(text)
	}
	return speed.TxBitsPerS, nil
}

// rdmaGIDs reads a port's table without its empty entries, by their index.
func (t tree) rdmaGIDs(port string) ([]native.GID, error) {
	if _, err := t.bytes(port + "state"); err != nil {
		return nil, err
	}
	gids := []native.GID{}
	names := t.names(port + "gids")
	for _, name := range names[:min(len(names), mostGIDs)] {
		index, err := strconv.ParseUint(name, 10, 16)
		if err != nil {
			continue
		}
		text, err := t.text(port + "gids/" + name)
		if errors.Is(err, syscall.EINVAL) {
			continue // kernels before 4.20 refuse to read an empty one
		}
		if err != nil {
			return nil, err
		}
		address, err := parseGID(text)
		if err != nil {
			return nil, err
		}
		if !address.IsUnspecified() {
			gids = append(gids, native.GID{Index: int(index), Address: address})
		}
	}
	slices.SortFunc(gids, func(a, b native.GID) int { return cmp.Compare(a.Index, b.Index) })
	return gids, nil
}

// parseGID reads eight groups of four hexadecimal digits.
func parseGID(text string) (netip.Addr, error) {
	address, err := netip.ParseAddr(text)
	if err != nil || len(text) != 39 || address.Zone() != "" || strings.Contains(text, ".") {
		return netip.Addr{}, malformedError(text)
	}
	return address, nil
}
