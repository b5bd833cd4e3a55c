package linux

import (
	"os"

	"fulmen/native"
	"fulmen/native/bound"
	"fulmen/native/procsockets"
)

// New returns this machine as a platform. It holds no descriptor and no
// goroutine until somebody watches. The error is that of a missing clock.
func New(options Options) (native.Platform, error) {
	o, err := options.withDefaults()
	if err != nil {
		return native.Platform{}, err
	}
	m := newMachine(o)
	d := &discovery{machine: m}
	return native.Platform{
		Name: platformName, Facts: m, Clock: o.Clock, Discovery: d, Sockets: bound.Sockets{}, Supervisor: newSupervisor(o),
		Processes: procsockets.Processes{}, Network: actions{m},
		Closers: []func() error{d.close, m.close},
	}.Complete()
}

func newMachine(o Options) *machine {
	return &machine{
		tree:    tree{proc: newKernelFiles(o.Proc), sys: newKernelFiles(o.Sys), etc: os.DirFS(o.Etc)},
		clock:   o.Clock,
		links:   new(dumps).tables,
		sources: kernelSources(o),
		stalls:  stalls{hold: stallHold}, mayChange: mayChange,
	}
}
