package home

import (
	"os"
	"runtime"
)

// Environment is what the places depend on. Tests fill it in; a program takes
// it from Process.
type Environment struct {
	// OS is "darwin" or "linux", as runtime.GOOS has it.
	OS string
	// UID is the account that the daemon runs as; 0 is system mode.
	UID int
	// Home is the account's home folder; of no use in system mode.
	Home string
	// Getenv reads an environment variable, and is empty for one that is not set.
	Getenv func(name string) string
}

// Process is the environment of this process. A home folder that is not known
// is empty, and an error once it is needed.
func Process() Environment {
	folder, err := os.UserHomeDir()
	if err != nil {
		folder = ""
	}
	return Environment{OS: runtime.GOOS, UID: os.Geteuid(), Home: folder, Getenv: os.Getenv}
}
