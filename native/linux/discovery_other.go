//go:build !linux

package linux

import "fulmen/native"

func (m *machine) canDiscover(c native.Capabilities) {
	c.No(native.ReasonNoPlatform, native.FeatureDiscovery)
}
