package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/home/trust"
)

// LockFile is the file in the state folder that a running daemon holds locked;
// it contains the daemon's process id. It is never removed.
const LockFile = "daemon.lock"

// LifeFile is the name of the record of starts in the state folder, StoppedFile that
// of the mark in the runtime folder that a person has stopped the daemon.
const (
	LifeFile    = "life.json"
	StoppedFile = "stopped"
)

// Folders are the places of one daemon, all absolute.
type Folders struct {
	// Mode says whether they are root's or one user's.
	Mode api.DaemonMode
	// Config holds config.toml.
	Config string
	// State holds the key, the database and the jobs.
	State string
	// Logs holds the daemon's log.
	Logs string
	// Runtime holds sockets, and what means nothing after a restart of the machine.
	Runtime string
	// IsTrial says that EnvHome has put them under one folder.
	IsTrial bool
}

// ConfigFile is the configuration.
func (f Folders) ConfigFile() string { return filepath.Join(f.Config, api.ConfigFile) }

// EnginesFolder has the engines that this Mac's owner has made.
func (f Folders) EnginesFolder() string { return filepath.Join(f.Config, "engines") }

// DatabaseFile is the database of jobs, measurements and the roster.
func (f Folders) DatabaseFile() string { return filepath.Join(f.State, api.StateFile) }

// KeyFile is the node's private key.
func (f Folders) KeyFile() string { return filepath.Join(f.State, api.KeyFile) }

// UndoFile is the record of what was changed for RDMA.
func (f Folders) UndoFile() string { return filepath.Join(f.State, api.UndoFile) }

// JobsFolder holds a folder for every job.
func (f Folders) JobsFolder() string { return filepath.Join(f.State, api.JobsFolder) }

// Socket is the Unix socket of the API.
func (f Folders) Socket() string { return filepath.Join(f.Runtime, api.SocketFile) }

// LifeFile is the record of when the daemon started, and of the ends that were none.
func (f Folders) LifeFile() string { return filepath.Join(f.State, LifeFile) }

// StoppedFile is there while Fulmen is to stay stopped though clients ask for it. A
// restart of the machine takes it away.
func (f Folders) StoppedFile() string { return filepath.Join(f.Runtime, StoppedFile) }

// With replaces the folders of state and logs by those that a configuration
// names; an empty one stays as it is.
func (f Folders) With(state, logs string) Folders {
	if state != "" {
		f.State = filepath.Clean(state)
	}
	if logs != "" {
		f.Logs = filepath.Clean(logs)
	}
	return f
}

// Lock takes the state folder for this process. A second daemon gets an error
// with api.ReasonAlreadyRunning that names the process holding it.
func (f Folders) Lock() (*Lock, error) { return TryLock(filepath.Join(f.State, LockFile)) }

const (
	// ownMode is for folders that are nobody else's business.
	ownMode = 0o700
	// sharedMode is for folders through which others reach a socket or read the
	// configuration.
	sharedMode = 0o755
)

// Create makes the folders that are missing. State and logs are for the owner
// alone; in system mode everybody may enter the others. Folders that are there
// keep their mode: Check judges them.
func (f Folders) Create() error {
	open := os.FileMode(ownMode)
	if f.Mode == api.ModeSystem {
		open = sharedMode
	}
	// On macOS configuration and state share a folder, which the stricter mode gets.
	for _, dir := range []struct {
		path string
		mode os.FileMode
	}{{f.State, ownMode}, {f.Config, open}, {f.Logs, ownMode}, {f.Runtime, open}} {
		if err := makeFolder(dir.path, dir.mode, open); err != nil {
			return err
		}
	}
	return nil
}

// makeFolder makes path with mode and what leads to it with parentMode, both
// whatever the umask says. Folders that are there are left alone.
func makeFolder(path string, mode, parentMode os.FileMode) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	if parent := filepath.Dir(path); parent != path {
		if err := makeFolder(parent, parentMode, parentMode); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, mode); err != nil {
		if info, stat := os.Stat(path); stat == nil && info.IsDir() {
			return nil
		}
		return Explain(err, "make the folder", path)
	}
	if err := os.Chmod(path, mode); err != nil {
		return Explain(err, "set the mode of", path)
	}
	return nil
}

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
