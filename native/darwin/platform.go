package darwin

import (
	"fulmen/native"
	"fulmen/native/procsockets"
)

// platform puts the machine's parts together. assert holds idle sleep off; what a
// build lacks is nil, and refuses.
func (m *machine) platform(assert func(reason string) (release func() error, err error), closers ...func() error) native.Platform {
	p := &power{machine: m, assert: assert}
	out := native.Platform{Name: platformName, Clock: m.clock, Facts: m, Power: p, Processes: procsockets.Processes{}, Closers: []func() error{p.close}}
	if m.actions != nil {
		out.Network = m.actions
	}
	if m.connect != nil {
		d := &discovery{machine: m, connect: m.connect, sessions: map[*session]bool{}, own: map[string]int{}}
		out.Discovery = d
		out.Closers = append(out.Closers, d.close)
	}
	out.Closers = append(append(out.Closers, m.close), closers...)
	return out
}
