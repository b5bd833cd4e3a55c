//go:build cgo && (darwin || (linux && darwinsim))

package darwin

import "fulmen/native"

// newSystemMachine is a machine whose facts C reads. Root may change its network.
func newSystemMachine(f systemFrameworks, root bool, m *machine) *machine {
	f.gauges = &gauges{}
	m.frameworks, m.meters, m.verbs = f, f, f
	m.actions = &actions{machine: m, editor: f, root: root}
	return newMachine(m, f.open)
}

// platform is the machine as a platform, as far as C reaches.
func (m *machine) platform() native.Platform {
	f := m.frameworks.(systemFrameworks)
	p := &power{machine: m, assert: f.assert}
	return native.Platform{
		Name: platformName, Clock: m.clock, Facts: m, Power: p, Network: m.actions, Closers: []func() error{p.close, m.close, f.closeGauges},
	}
}
