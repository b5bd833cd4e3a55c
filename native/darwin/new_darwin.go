package darwin

import (
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"fulmen/native"
	"fulmen/native/bound"
	"fulmen/native/procsockets"
)

// New returns this Mac as a platform.
func New() (native.Platform, error) { return Open(Options{}) }

// Open returns this Mac as a platform with what the options say.
func Open(options Options) (native.Platform, error) {
	clock, err := native.SystemClock()
	if err != nil {
		return native.Platform{}, err
	}
	m := &machine{kernel: kernel{}, hostName: os.Hostname, interfaces: net.Interfaces, supervises: true}
	home, err := os.UserHomeDir()
	if err != nil && os.Geteuid() != 0 && options.Units == "" {
		return native.Platform{}, err // root has no need of one
	}
	return native.Platform{
		Name: platformName, Clock: clock, Facts: m, Sockets: bound.Sockets{}, Processes: procsockets.Processes{},
		Supervisor: newSupervisor(options, os.Geteuid(), home, runLaunchctl), Closers: []func() error{m.close},
	}.Complete()
}

// kernel is the running system's sysctl.
type kernel struct{}

// Text is a text, without its closing zero.
func (kernel) Text(name string) (string, error) {
	value, err := unix.Sysctl(name)
	return value, wrap(err)
}

// Raw is the bytes as they are.
func (kernel) Raw(name string) ([]byte, error) {
	value, err := unix.SysctlRaw(name)
	return value, wrap(err)
}

// wrap marks the error of a name that this kernel does not know.
func wrap(err error) error {
	if errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("%w: %w", errNoValue, err)
	}
	return err
}
