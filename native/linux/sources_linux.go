package linux

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"fulmen/native"
)

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
