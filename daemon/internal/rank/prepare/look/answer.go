package look

import "fulmen/daemon/api"

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
	// Started says that other programs were started, which may have left some.
	Started bool `json:"started,omitempty"`
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
