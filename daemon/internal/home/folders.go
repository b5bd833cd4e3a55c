package home

import (
	"path/filepath"

	"fulmen/daemon/api"
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
