//go:build cgo && (darwin || (linux && darwinsim))

package darwin

import "fulmen/native"

// newSystemMachine is a machine whose facts C reads. Root may change its network.
func newSystemMachine(f systemFrameworks, root bool, m *machine) *machine {
	f.gauges = &gauges{}
	m.frameworks, m.meters, m.verbs = f, f, f
	m.connect = f.connect
	m.actions = &actions{machine: m, editor: f, root: root}
	return newMachine(m, f.open)
}

// platform is the machine as a platform, as far as C reaches.
func (m *machine) platform() native.Platform {
	f := m.frameworks.(systemFrameworks)
	p := &power{machine: m, assert: f.assert}
	d := &discovery{machine: m, connect: f.connect, sessions: map[*session]bool{}, own: map[string]int{}}
	return native.Platform{
		Name: platformName, Clock: m.clock, Facts: m, Power: p, Network: m.actions, Discovery: d,
		Closers: []func() error{p.close, d.close, m.close, f.closeGauges},
	}
}
