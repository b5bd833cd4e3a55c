//go:build !linux && !(darwin && cgo)

package procsockets

import (
	"net/netip"

	"fulmen/native"
)

// Listens is refused: nothing here tells whose a socket is.
func (Processes) Listens(int, int, native.Listening) (native.Listening, error) {
	return native.Listening{}, native.Unsupported(native.FeatureProcesses, native.ReasonNoPlatform.With("no table of sockets"))
}

// Holds is refused likewise.
func (Processes) Holds(int, netip.AddrPort, netip.AddrPort) (bool, error) {
	return false, native.Unsupported(native.FeatureProcesses, native.ReasonNoPlatform.With("no table of sockets"))
}

// Owner is refused likewise.
func (Processes) Owner(netip.AddrPort, netip.AddrPort) (uint32, error) {
	return 0, native.Unsupported(native.FeatureProcesses, native.ReasonNoPlatform.With("no table of sockets"))
}

// Callers is refused likewise.
func (Processes) Callers(netip.AddrPort) ([]netip.AddrPort, error) {
	return nil, native.Unsupported(native.FeatureProcesses, native.ReasonNoPlatform.With("no table of sockets"))
}

// Program is refused likewise.
func (Processes) Program(netip.AddrPort, netip.AddrPort) (int, string, error) {
	return 0, "", native.Unsupported(native.FeatureProcesses, native.ReasonNoPlatform.With("no table of sockets"))
}
