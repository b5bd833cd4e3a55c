//go:build !linux

package linux

import "fulmen/native"

// New refuses: this is not Linux. The error matches [native.ErrUnsupported].
func New(Options) (native.Platform, error) {
	return native.Platform{}, native.Unsupported(native.FactsFeature(native.AreaIdentity), native.ReasonNoPlatform.With("this is not Linux"))
}

func (m *machine) canDiscover(c native.Capabilities) {
	c.No(native.ReasonNoPlatform, native.FeatureDiscovery)
}
