package home

import (
	"os"
	"path/filepath"
	"runtime"

	"fulmen/daemon/api"
)

// Process is the environment of this process. A home folder that is not known
// is empty, and an error once it is needed.
func Process() api.Environment {
	folder, err := os.UserHomeDir()
	if err != nil {
		folder = ""
	}
	return api.Environment{OS: runtime.GOOS, UID: os.Geteuid(), Home: folder, Getenv: os.Getenv}
}

const (
	// maxSocketPath is the longest path of a Unix socket: sun_path has 104 bytes
	// on macOS (sys/un.h), one of which ends it. Linux has four more, which
	// nothing here relies on.
	maxSocketPath = 103
	// socketName is what the longest name of a socket in the runtime folder may
	// take: a rank's is its job, attempt and number.
	socketName = 32
)

// Resolve says where the folders are, as api.Environment has them; it touches nothing.
//
// It refuses a path that is not absolute, and a runtime folder whose sockets
// would have paths too long for the system.
func Resolve(env api.Environment) (Folders, error) {
	f, err := place(env)
	if err != nil {
		return Folders{}, err
	}
	if longest := len(f.Runtime) + 1 + socketName; longest > maxSocketPath {
		e := api.Errorf(api.ReasonBadValue, f.Runtime,
			"The path %s is %d bytes long; sockets in it would exceed the %d bytes that the system allows for their path (sun_path).",
			f.Runtime, len(f.Runtime), maxSocketPath)
		return Folders{}, e.WithRemedy("Use a shorter folder, at most 70 bytes; " + api.EnvHome + " and XDG_RUNTIME_DIR move it.")
	}
	return f, nil
}

func place(env api.Environment) (Folders, error) {
	f, all := Folders{Mode: api.ModeUser}, env.Getenv(api.EnvHome)
	if env.UID == 0 {
		f.Mode = api.ModeSystem
	}
	switch {
	case all != "" && !filepath.IsAbs(all):
		return f, notAbsolute(api.EnvHome, all)
	case all == "" && f.Mode == api.ModeUser && !filepath.IsAbs(env.Home):
		return f, notAbsolute("HOME", env.Home)
	}
	p := env.Places()
	f.Config, f.State, f.Logs, f.Runtime, f.IsTrial = p.Config, p.State, p.Logs, p.Runtime, all != ""
	return f, nil
}

func notAbsolute(name, path string) error {
	return api.Errorf(api.ReasonBadValue, name, "%s is %q, which is not an absolute path.", name, path).
		WithRemedy("Set " + name + " to a path that begins with a slash.")
}
