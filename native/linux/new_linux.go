package linux

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

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
		Processes: procsockets.Processes{}, Network: actions{m}, RDMACarried: m.tree.rdmaCarried,
		Closers: []func() error{d.close, m.close},
	}.Complete()
}

func newMachine(o Options) *machine {
	return &machine{
		tree:    tree{proc: os.DirFS(o.Proc), sys: os.DirFS(o.Sys), etc: os.DirFS(o.Etc)},
		clock:   o.Clock,
		links:   dumpTables,
		sources: kernelSources(o),
		stalls:  stalls{hold: stallHold}, mayChange: mayChange,
	}
}

// kernelSources are the ways in which this kernel announces changes.
func kernelSources(o Options) []hintSource {
	return []hintSource{
		{[]native.Area{native.AreaIdentity}, func(*machine) ([]listener, error) {
			return openHostName(filepath.Join(o.Proc, "sys/kernel/hostname"))
		}},
		{[]native.Area{native.AreaIdentity}, func(*machine) ([]listener, error) { return openMachineInfo(o.Etc) }},
		{[]native.Area{native.AreaMemory}, func(m *machine) ([]listener, error) { return openPressure(m, o.path(m.tree.pressureFile())) }},
		{[]native.Area{native.AreaNetwork, native.AreaRDMA}, func(m *machine) ([]listener, error) { return openRouteEvents(0, m.tree.hasRDMA) }},
		{[]native.Area{native.AreaThunderbolt, native.AreaRDMA}, func(*machine) ([]listener, error) { return openUevents(0) }},
	}
}

// path is where a file of the tree is on this machine.
func (o Options) path(name string) string {
	root, rest, _ := strings.Cut(name, "/")
	return filepath.Join(map[string]string{"proc": o.Proc, "sys": o.Sys, "etc": o.Etc}[root], rest)
}

// descriptor is a file descriptor that is no os.File.
type descriptor int

func (d descriptor) fd() int      { return int(d) }
func (d descriptor) close() error { return unix.Close(int(d)) }

// refused is the error of a source that cannot be opened here.
func refused(area native.Area, what string, err error) error {
	return native.Unsupported(native.HintsFeature(area), reason(what, err, native.ReasonNoOS.With("no "+what)))
}
