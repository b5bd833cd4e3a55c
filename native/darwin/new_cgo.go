//go:build cgo && (darwin || (linux && darwinsim))

package darwin

import "fulmen/native"

// newSystemMachine is a machine whose facts C reads. Root may change its network.
func newSystemMachine(f systemFrameworks, root bool, m *machine) *machine {
	f.gauges = &gauges{}
	m.frameworks, m.meters = f, f
	if m.verbs == nil {
		m.verbs = f
	}
	m.connect = f.connect
	m.actions = &actions{machine: m, editor: f, root: root}
	return newMachine(m, f.open)
}

// systemPlatform is the machine as a platform, as far as C reaches.
func (m *machine) systemPlatform() native.Platform {
	f := m.frameworks.(systemFrameworks)
	return m.platform(f.assert, f.closeGauges)
}
