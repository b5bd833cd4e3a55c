package look

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	// DeadlineS is how long the process may live.
	DeadlineS float64 `json:"deadline_s"`
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
			return wrong(field, "is not an absolute path")
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

// Kind is what a folder with a Python environment is.
type Kind string

const (
	// KindVenv is made by venv, virtualenv or uv.
	KindVenv Kind = "venv"
	// KindConda is made by conda, mamba or micromamba.
	KindConda Kind = "conda"
	// KindPrefix is any other folder with bin/python.
	KindPrefix Kind = "prefix"
)

// Answer is what was found. What is absent was not found, and a problem says why
// where that matters.
type Answer struct {
	// Stale says that the shell's files have changed since Request.Stamp.
	Stale bool `json:"stale,omitempty"`
	// Stamp is that of the shell's files now.
	Stamp string `json:"stamp,omitempty"`
	// Env is what the login shell made; of [OpEnvironment].
	Env []string `json:"env,omitempty"`

	// Directory is where the program would start.
	Directory string `json:"directory,omitempty"`
	// Program is the absolute path to execute, and Args are its arguments.
	Program string   `json:"program,omitempty"`
	Args    []string `json:"args,omitempty"`
	// Interpreter is what would run the program, where there is one.
	Interpreter string `json:"interpreter,omitempty"`
	// Environment is the Python environment's folder and Kind what it is.
	Environment string `json:"environment,omitempty"`
	Kind        Kind   `json:"kind,omitempty"`
	// Python is the interpreter's own answer, to be kept for the next request.
	Python *Python `json:"python,omitempty"`
	// Versions are those of python and of the packages that are there.
	Versions map[string]string `json:"versions,omitempty"`
	// MLX is the program's MLX; nil where that is not known.
	MLX *api.ProgramMLX `json:"mlx,omitempty"`
	// DiskFreeBytes is what the account may still write where the program would start.
	DiskFreeBytes *int64 `json:"disk_free_bytes,omitempty"`
	// Digest is SHA-256, in hexadecimal, of Prepare and the contents of PrepareInputs.
	Digest string `json:"digest,omitempty"`
	// Status is how the command that prepares ended: its exit code, or 128 and its signal.
	Status *int `json:"status,omitempty"`
	// Problems are what keeps the program from starting.
	Problems []api.Cause `json:"problems,omitempty"`
}

// Python is what an interpreter says of itself.
type Python struct {
	// Path is as it was asked.
	Path string `json:"path"`
	// Stamp changes when the interpreter or its environment does. It is empty for
	// what must be asked each time, such as a script that chooses among several.
	Stamp string `json:"stamp,omitempty"`
	// Version is "3.12.1", with t at the end for one without the global lock.
	Version string `json:"version"`
	// Folders are where it looks for packages, in order.
	Folders []string `json:"folders"`
	// UserFolder is where the account's own packages would be, which come before
	// them; empty where it does not look there.
	UserFolder string `json:"user_folder,omitempty"`
	// MLX is what its MLX said; nil where that could not tell. MLXStamp changes when
	// packages do.
	MLX      *api.ProgramMLX `json:"mlx,omitempty"`
	MLXStamp string          `json:"mlx_stamp,omitempty"`
}

func (a *Answer) problem(reason api.Reason, subject, remedy, message string) {
	if info, ok := api.LookupReason(reason); ok && remedy == "" {
		remedy = info.Remedy
	}
	a.Problems = append(a.Problems, api.Cause{Reason: reason, Message: message, Subject: subject, Remedy: remedy})
}

// Bounds of what the two sides say to each other.
const (
	// MaxRequestBytes is the largest request.
	MaxRequestBytes = 2 << 20
	// MaxAnswerBytes is the largest answer.
	MaxAnswerBytes = 1 << 20

	maxDeadlineS = 24 * 3600
)

// ParseRequest reads a request, strictly: no unknown field, no second value.
func ParseRequest(data []byte) (Request, error) {
	var r Request
	if err := parse(data, MaxRequestBytes, &r); err != nil {
		return Request{}, fmt.Errorf("the request: %w", err)
	}
	if err := r.Check(); err != nil {
		return Request{}, err
	}
	return r, nil
}

// ParseAnswer reads an answer, as strictly: the process ran as somebody else,
// and what it says is not believed blindly.
func ParseAnswer(data []byte) (Answer, error) {
	var a Answer
	if err := parse(data, MaxAnswerBytes, &a); err != nil {
		return Answer{}, fmt.Errorf("the answer: %w", err)
	}
	for _, p := range a.Problems {
		if p.Reason == "" || p.Message == "" {
			return Answer{}, errors.New("the answer: a problem without a reason or a message")
		}
	}
	if a.MLX != nil {
		a.MLX.Backends = slices.DeleteFunc(a.MLX.Backends, func(b api.MLXBackend) bool { return !b.Valid() })
	}
	return a, nil
}

func parse(data []byte, limit int, into any) error {
	if len(data) > limit {
		return fmt.Errorf("larger than %d bytes", limit)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if rest := bytes.TrimSpace(data[decoder.InputOffset():]); len(rest) > 0 {
		return errors.New("something follows it")
	}
	return nil
}

// maxInput is how much of one input counts.
const maxInput = 1 << 30

// digest covers the command that prepares and the contents of its inputs. A
// folder counts with the names, sizes and times of what is in it.
func digest(r Request) string {
	hash := sha256.New()
	for _, word := range r.Prepare {
		fmt.Fprintf(hash, "%d:%s\x00", len(word), word)
	}
	for _, input := range r.PrepareInputs {
		fmt.Fprintf(hash, "%d:%s\x00", len(input), input)
		path := r.at(input)
		if isFolder(path) {
			_ = filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
				if err == nil && entry.Type().IsRegular() {
					if info, err := entry.Info(); err == nil {
						fmt.Fprintf(hash, "%d:%s %d %d\x00", len(path), path, info.Size(), info.ModTime().UnixNano())
					}
				}
				return nil
			})
		} else if err := hashFile(hash, path); err != nil {
			fmt.Fprintf(hash, "unreadable %t\x00", errors.Is(err, fs.ErrNotExist))
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}

func hashFile(hash io.Writer, path string) error {
	if !isFile(path) {
		return fs.ErrNotExist // a pipe or device would never end
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	own := sha256.New()
	n, err := io.Copy(own, io.LimitReader(f, maxInput))
	if err != nil {
		return err
	}
	fmt.Fprintf(hash, "%d:%x\x00", n, own.Sum(nil))
	return nil
}
