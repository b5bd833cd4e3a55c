package readiness

import "fulmen/daemon/api"

// WaitsForTrip reports whether RDMA could be enabled on a cable if only a person had
// been to a Mac: nothing else is missing than a switch, or a restart, and what Fulmen
// itself does. While that person is there the Mac is away.
func WaitsForTrip(r Report) bool {
	waits := false
	for _, c := range r.Causes {
		switch c.Reason {
		case api.ReasonRDMASwitchOff, api.ReasonRDMANoDevice:
			waits = true
		case api.ReasonUnreachable, api.ReasonAsleep, api.ReasonRestarting:
		case api.ReasonInBridge, api.ReasonBridgeLoop, api.ReasonRDMANoIPv4GID:
		default:
			return false
		}
	}
	return waits
}
