//go:build cgo && linux && darwinsim

package darwin

import (
	"context"
	"io"
	"os"

	"fulmen/native"
	"fulmen/native/darwin/simfw"
)

// Simulated is what a simulated Mac's kernel tells through other doors than the
// frameworks.
type Simulated struct {
	// Machine is behind the frameworks.
	Machine *simfw.Machine
	Clock   native.Clock
	// Sysctl are the kernel's values by name.
	Sysctl func(name string) ([]byte, bool)
	// Interfaces are the kernel's.
	Interfaces func() []SimulatedInterface
	// Profiler is what system_profiler says; nil where there is none.
	Profiler func(context.Context) (native.Thunderbolt, error)
	// Verbs is the command of a child that calls AnswerVerbs; none: the library is asked
	// in this process.
	Verbs []string
}

// SimulatedInterface is an interface as the kernel has it.
type SimulatedInterface = kernelInterface

// OpenSimulated is the real platform over simulated frameworks. It has no
// sockets and no supervisor.
func OpenSimulated(s Simulated) (native.Platform, error) {
	return openSimulated(s).systemPlatform().Complete()
}

// Stored is the stored configuration, in the parts that native/darwin reads.
func (s Simulated) Stored() (map[string]any, error) {
	return systemFrameworks{enter: s.Machine.Enter}.Stored()
}

// Record is what Record gives on a Mac.
func (s Simulated) Record() (Recording, []Replaced) { return openSimulated(s).record() }

// LogNotifications is what LogNotifications writes on that Mac.
func (s Simulated) LogNotifications(ctx context.Context, out io.Writer) error {
	return openSimulated(s).log(ctx, out)
}

// AnswerVerbs is what AnswerVerbs writes on that Mac.
func (s Simulated) AnswerVerbs(out io.Writer) error {
	return systemFrameworks{enter: s.Machine.Enter}.answerVerbs(out)
}

// LaunchdSockets is LaunchdSockets on that Mac.
func (s Simulated) LaunchdSockets(name string) ([]*os.File, error) {
	return systemFrameworks{enter: s.Machine.Enter}.sockets(name)
}

// Folders is NewFolders on that Mac.
func (s Simulated) Folders(changed func(folder, path string)) *Folders {
	f := NewFolders(changed)
	f.open = systemFrameworks{enter: s.Machine.Enter}.stream
	return f
}

// Right is NewRight on that Mac, for its root.
func (s Simulated) Right(name string) *Right {
	return newRight(name, systemFrameworks{enter: s.Machine.Enter})
}

func openSimulated(s Simulated) *machine {
	var child verbs
	if len(s.Verbs) > 0 {
		child = &childVerbs{command: s.Verbs}
	}
	return newSystemMachine(systemFrameworks{enter: s.Machine.Enter}, true, &machine{
		verbs: child,
		clock: s.Clock, kernel: simulatedKernel{s}, profile: s.Profiler, hostName: func() (string, error) { return "simulated.local", nil },
		interfaces: func() ([]kernelInterface, error) { return s.Interfaces(), nil },
	})
}

// simulatedKernel answers sysctl.
type simulatedKernel struct{ Simulated }

// Text is a text, without its closing zero.
func (k simulatedKernel) Text(name string) (string, error) {
	raw, err := k.Raw(name)
	return dataText(raw), err
}

// Raw is the bytes as they are.
func (k simulatedKernel) Raw(name string) ([]byte, error) {
	raw, there := k.Sysctl(name)
	if !there {
		return nil, errNoValue
	}
	return raw, nil
}
