package home

import (
	"errors"
	"io/fs"
	"path/filepath"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/home/trust"
)

// Check refuses folders, the configuration, and what lies directly in the folder of
// state, if somebody other than root could change them while the daemon is root. In
// user mode there is nobody to protect the user from, and everything passes. What
// is not there passes.
func (f Folders) Check() error {
	if f.Mode != api.ModeSystem {
		return nil
	}
	for _, path := range []string{f.Config, f.Logs, f.Runtime, f.ConfigFile()} {
		if err := f.CheckFile(path); err != nil {
			return err
		}
	}
	return Explain(trust.CheckFolder(f.State), "examine", f.State)
}

// CheckFile refuses a file that root is about to trust and others can change:
// it, the folder it lies in, and everything above.
func (f Folders) CheckFile(path string) error {
	if f.Mode != api.ModeSystem {
		return nil
	}
	err := trust.Check(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return Explain(err, "examine", path)
}

// CheckProgram refuses a program that root is about to start and others can change,
// and the libraries that it brings. See ChecksPrograms for where none is refused.
func (f Folders) CheckProgram(path string) error {
	if !f.ChecksPrograms() {
		return nil
	}
	if err := f.CheckFile(path); err != nil {
		return err
	}
	libraries := filepath.Join(filepath.Dir(path), "..", "Resources", api.MLXFolder)
	return Explain(trust.CheckFolder(libraries), "examine", libraries)
}

// ChecksPrograms reports whether programs are examined before they are started: not
// in user mode, where nobody is to be protected, nor where EnvHome puts everything
// under one folder, as tests and trials do, whose programs lie in somebody's
// checkout. launchd and systemd set no such variable.
func (f Folders) ChecksPrograms() bool { return f.Mode == api.ModeSystem && !f.IsTrial }
