//go:build darwin && cgo

package darwin

import (
	"context"
	"os"

	"golang.org/x/sys/unix"

	"fulmen/native"
	"fulmen/native/bound"
	"fulmen/native/systemprofiler"
)

// New returns this Mac as a platform.
func New() (native.Platform, error) { return Open(Options{}) }

// Open returns this Mac as a platform with what the options say.
func Open(options Options) (native.Platform, error) {
	clock, err := native.SystemClock()
	if err != nil {
		return native.Platform{}, err
	}
	home, err := os.UserHomeDir()
	if err != nil && os.Geteuid() != 0 && options.Units == "" {
		return native.Platform{}, err // root has no need of one
	}
	var child verbs
	if command := verbsCommand(options.Verbs); command != nil {
		child = &childVerbs{command: command}
	}
	m := newSystemMachine(systemFrameworks{}, os.Geteuid() == 0, &machine{
		clock: clock, kernel: kernel{}, supervises: true, verbs: child,
		profile: func(ctx context.Context) (native.Thunderbolt, error) {
			result, err := systemprofiler.Run(ctx, clock)
			return result.Thunderbolt, err
		},
	})
	p := m.systemPlatform()
	p.Sockets = bound.Sockets{}
	p.Supervisor = newSupervisor(options, os.Geteuid(), home, launchctlAt("/bin/launchctl"))
	return p.Complete()
}

// kernel is the running system's sysctl.
type kernel struct{}

// Text is a text, without its closing zero.
func (kernel) Text(name string) (string, error) {
	value, err := unix.Sysctl(name)
	return value, kernelError(err)
}

// Raw is the bytes as they are.
func (kernel) Raw(name string) ([]byte, error) {
	value, err := unix.SysctlRaw(name)
	return value, kernelError(err)
}
