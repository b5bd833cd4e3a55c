//go:build cgo && (darwin || (linux && darwinsim))

package darwin

import "fulmen/native"

// newSystemMachine is a machine whose facts C reads.
func newSystemMachine(f systemFrameworks, m *machine) *machine {
	m.frameworks, m.meters, m.verbs = f, f, f
	return newMachine(m, f.open)
}

// platform is the machine as a platform, as far as C reaches.
func (m *machine) platform() native.Platform {
	p := &power{machine: m, assert: m.frameworks.(systemFrameworks).assert}
	return native.Platform{
		Name: platformName, Clock: m.clock, Facts: m, Power: p, Closers: []func() error{p.close, m.close},
	}
}
