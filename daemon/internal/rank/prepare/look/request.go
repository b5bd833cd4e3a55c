package look

import (
	"path/filepath"
	"strings"

	"fulmen/daemon/api"
)

// Op is what is wanted of the process.
type Op string

const (
	// OpFind finds a program and changes nothing.
	OpFind Op = "find"
	// OpEnvironment reads the environment of a login shell.
	OpEnvironment Op = "environment"
	// OpPrepare runs a command that prepares the node.
	OpPrepare Op = "prepare"
)

// Request is what is wanted. Paths of this machine are absolute unless said otherwise.
type Request struct {
	// Op is what to do.
	Op Op `json:"op"`
	// DeadlineS is how long the process may live, or, where it stays, may take.
	DeadlineS float64 `json:"deadline_s"`
	// Stay has the process wait for another request after its answer; for [OpFind].
	Stay bool `json:"stay,omitempty"`
	// Account is the account's name, for sentences.
	Account string `json:"account"`
	// Home is the account's home folder, and Shell its login shell.
	Home  string `json:"home"`
	Shell string `json:"shell"`
	// Stamp is that of the shell's files when Env was read; for [OpFind]. Where it
	// is another now, the answer says so and nothing else.
	Stamp string `json:"stamp,omitempty"`
	// Env is the environment to search and to run in, "NAME=value".
	Env []string `json:"env,omitempty"`
	// AccountEnv is the account's own environment, without variables of a spec. An
	// interpreter that is asked gets this one alone: any variable may decide what
	// is executed there; for [OpFind].
	AccountEnv []string `json:"account_env,omitempty"`

	// Directory is where the program starts; empty = Home.
	Directory string `json:"directory,omitempty"`
	// Command is the program and its arguments; of a built-in one the arguments alone.
	Command []string `json:"command,omitempty"`
	// Builtin is the path of the program of Fulmen's own that is meant instead.
	Builtin string `json:"builtin,omitempty"`
	// Interpreter is what runs the program: a path, also one from Directory, or a name.
	Interpreter string `json:"interpreter,omitempty"`
	// Environment is a Python environment: a path, also one from Directory.
	Environment string `json:"environment,omitempty"`
	// Packages are those whose versions are wanted.
	Packages []string `json:"packages,omitempty"`
	// Pythons are interpreters that were asked before.
	Pythons []Python `json:"pythons,omitempty"`

	// Prepare is the command that prepares the node: one word is a line for
	// /bin/sh, several are a program and its arguments.
	Prepare []string `json:"prepare,omitempty"`
	// PrepareInputs are the files, also from Directory, that Answer.Digest covers.
	PrepareInputs []string `json:"prepare_inputs,omitempty"`
}

// Check refuses what cannot be done.
func (r Request) Check() error {
	wrong := func(field, why string) error {
		return api.Errorf(api.ReasonBadValue, field, "%s %s", field, why)
	}
	for field, path := range map[string]string{"home": r.Home, "directory": r.Directory, "builtin": r.Builtin} {
		if path != "" && !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
			return wrong(field, "is no absolute path")
		}
	}
	for _, list := range [][]string{r.Env, r.AccountEnv, r.Command, r.Prepare, r.PrepareInputs, {r.Interpreter, r.Environment}} {
		for _, word := range list {
			if strings.ContainsRune(word, 0) {
				return wrong("request", "has a word with a zero byte")
			}
		}
	}
	switch {
	case r.DeadlineS <= 0 || r.DeadlineS > maxDeadlineS:
		return wrong("deadline_s", "is out of range")
	case r.Home == "":
		return wrong("home", "is missing")
	case r.Stay && r.Op != OpFind:
		return wrong("stay", "is for another operation")
	}
	switch r.Op {
	case OpFind:
		if len(r.Command) == 0 && r.Builtin == "" {
			return wrong("command", "is empty")
		}
		if r.Builtin == "" && r.Command[0] == "" {
			return wrong("command", "begins with an empty word")
		}
	case OpEnvironment:
		if !filepath.IsAbs(r.Shell) {
			return wrong("shell", "is missing")
		}
	case OpPrepare:
		if len(r.Prepare) == 0 {
			return wrong("prepare", "is empty")
		}
	default:
		return wrong("op", "is not known")
	}
	return nil
}

// directory is where the program starts.
func (r Request) directory() string {
	if r.Directory == "" {
		return filepath.Clean(r.Home)
	}
	return filepath.Clean(r.Directory)
}

// at makes a path of the request absolute.
func (r Request) at(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(r.directory(), path)
}

// variable is the value of a variable; the last one counts.
func (r Request) variable(name string) string {
	value := ""
	for _, entry := range r.Env {
		if have, is, ok := strings.Cut(entry, "="); ok && have == name {
			value = is
		}
	}
	return value
}
