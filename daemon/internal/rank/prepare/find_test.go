package prepare_test

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/prepare"
	"fulmen/daemon/internal/rank/ranktest"
	"fulmen/native/nativetest/testkit"
)

func TestPreflight(t *testing.T) {
	is := is.New(t)
	r := newRig(t, ranktest.Shell(t, "sh"), map[string]string{"bin/python3": python("3.12.1"), "work/train.py": ""})
	r.write(t, mlx)
	got := r.Preflight(t.Context(), r.ada, train("python", "/Users/me/work/train.py"), noEnv)
	is.Equal(len(got.Problems), 0)
	is.Equal(got.Directory, r.ada.Home+"/work")
	is.Equal(got.Interpreter, r.ada.Home+"/bin/python3")
	is.Equal(got.Versions, map[string]string{"python": "3.12.1", "mlx": "0.32.4"})
	is.True(*got.DiskFreeBytes > 0)

	got = r.Preflight(t.Context(), r.ada, train(), noEnv) // Python itself
	is.Equal(len(got.Problems), 0)
	is.Equal(got.Versions["python"], "3.12.1")
	_, err := r.Resolve(t.Context(), r.ada, train(), noEnv)
	is.Equal(api.AsError(err).Data.Reason, api.ReasonBadValue)

	got = r.Preflight(t.Context(), r.ada, train("python", "/Users/me/gone.py"), noEnv)
	is.Equal(got.Problems[0].Reason, api.ReasonProgramMissing)
	is.Equal(got.Problems[0].Subject, r.ada.Home+"/gone.py")
	synced := train("python", "gone.py")
	synced.Sync, synced.Directory = true, "/Users/me/gone"
	is.Equal(len(r.Preflight(t.Context(), r.ada, synced, noEnv).Problems), 0) // it comes with the files
}

func TestResolve(t *testing.T) {
	is := is.New(t)
	r := newRig(t, ranktest.Shell(t, "sh"), map[string]string{
		"venv/bin/python": python("3.12.1"), "venv/pyvenv.cfg": "", "bin/python3": python("3.9.0"), "work/train.py": "",
	})
	program := train("train.py", "--out=/Users/me/out")
	program.Environment = "/Users/me/venv"
	got, err := r.Resolve(t.Context(), r.ada, program, map[string]string{"DATA": "/Users/me/data", "PATH": "/theirs", "HOME": "/Users/me"})
	is.NoErr(err)
	is.Equal(got.Program, r.ada.Home+"/venv/bin/python")
	is.Equal(got.Args, []string{"train.py", "--out=" + r.ada.Home + "/out"})
	is.Equal(got.Dir, r.ada.Home+"/work")
	env := values(got.Env)
	is.True(strings.HasPrefix(env["PATH"], r.ada.Home+"/venv/bin:"+r.ada.Home+"/bin:"))
	is.Equal(env["VIRTUAL_ENV"], r.ada.Home+"/venv")
	is.Equal(env["HOME"], r.ada.Home)
	is.Equal(env["USER"], "ada")
	is.Equal(env["LOGNAME"], "ada")
	is.Equal(env["SHELL"], r.ada.Shell)
	is.Equal(env["DATA"], r.ada.Home+"/data")
	is.Equal(env["PYTHONUNBUFFERED"], "1")
	is.True(env["LANG"] != "")
	_, has := env["TERM"]
	is.True(!has)

	program.Command[0], program.Directory = "gone.py", "/Users/me/none"
	_, err = r.Resolve(t.Context(), r.ada, program, noEnv)
	refused := api.AsError(err)
	is.Equal(refused.Data.Reason, api.ReasonDirectoryMissing)
	is.Equal(refused.Code, api.CodeNotFound)
	is.Equal(len(refused.Data.Causes), 2)

	builtin, err := r.Resolve(t.Context(), r.ada, api.Program{Builtin: "allreduce", Command: []string{"-x"}}, noEnv)
	is.NoErr(err)
	is.Equal(builtin.Program, "/bin/true")
	is.Equal(builtin.Args, []string{"allreduce", "-x"}) // what the worker is to do comes first
	is.Equal(builtin.Dir, r.ada.Home)
}

// A spec that names another program as its interpreter has it run by no preflight,
// whether a variable or a file of the folder tells that program what to do.
func TestAPreflightRunsNoOtherProgram(t *testing.T) {
	is := is.New(t)
	r := newRig(t, ranktest.Shell(t, "sh"), map[string]string{"work/train.py": "", "work/Makefile": "$(shell touch HOME_/made)\n"})
	program := train("train.py")
	program.Interpreter = ranktest.Shell(t, "make")
	got := r.Preflight(t.Context(), r.ada, program, map[string]string{"MAKEFLAGS": "--eval=$(shell touch " + r.ada.Home + "/made)"})
	_, err := os.Stat(r.ada.Home + "/made")
	is.True(os.IsNotExist(err))
	is.Equal(len(got.Problems), 1)
	is.Equal(got.Problems[0].Reason, api.ReasonInterpreterMissing)
	is.True(strings.HasPrefix(got.Problems[0].Message, program.Interpreter+" is not a Python interpreter"))
}

// An interpreter is asked in the account's own environment; the variables of a spec
// count for what is read alone.
func TestAnInterpreterIsAskedWithoutTheVariablesOfASpec(t *testing.T) {
	is := is.New(t)
	r := newRig(t, ranktest.Shell(t, "sh"), map[string]string{
		"bin/python3":                  strings.Replace(python("3.12.1"), "\n", "\nenv >HOME_/asked\n", 1),
		"src/mlx-9.dist-info/METADATA": "Version: 9\n",
		"work/train.py":                "",
	})
	r.write(t, map[string]string{".profile": "export PATH=$HOME/bin:$PATH GREETING=hello\n"})
	variables := map[string]string{"PYTHONPATH": r.ada.Home + "/src"}
	for _, name := range []string{
		"LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "PYTHONSTARTUP", "PYTHONINSPECT", "BASH_ENV", "ENV", "MAKEFLAGS",
		"SHELLOPTS", "DEVELOPER_DIR", "PYENV_HOOK_PATH", "ANYTHING",
	} {
		variables[name] = "passed"
	}
	got := r.Preflight(t.Context(), r.ada, train("python3", "train.py"), variables)
	is.Equal(len(got.Problems), 0)
	is.Equal(got.Versions, map[string]string{"python": "3.12.1", "mlx": "9"})
	asked, err := os.ReadFile(r.ada.Home + "/asked")
	is.NoErr(err)
	env := values(strings.Split(string(asked), "\n"))
	is.Equal(env["GREETING"], "hello")
	for name := range variables {
		_, has := env[name]
		is.True(!has) // name
	}
}

// The shell is run once, whoever asks, and again when its files change.
func TestTheShellIsReadOnce(t *testing.T) {
	is := is.New(t)
	r := newRig(t, ranktest.Shell(t, "sh"), map[string]string{"work/train.py": "", "bin/tool": "#!/bin/sh\n", "other/tool": "#!/bin/sh\n"})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if got := r.Preflight(t.Context(), r.ada, train("tool"), noEnv); len(got.Problems) > 0 {
				t.Error(got.Problems)
			}
		})
	}
	group.Wait()
	is.Equal(r.lines(t, "reads"), 1)
	r.write(t, map[string]string{".profile": "export PATH=$HOME/other:$PATH\necho read >>$HOME/reads\n"})
	// What starts is what the preflight found, once.
	got, err := r.Resolve(t.Context(), r.ada, train("tool"), noEnv)
	is.NoErr(err)
	is.Equal(got.Program, r.ada.Home+"/bin/tool")
	is.Equal(r.lines(t, "reads"), 1)
	got, err = r.Resolve(t.Context(), r.ada, train("tool"), noEnv)
	is.NoErr(err)
	is.Equal(got.Program, r.ada.Home+"/other/tool")
	is.Equal(r.lines(t, "reads"), 2)
}

func TestNoise(t *testing.T) {
	for _, name := range []string{"sh", "bash", "dash", "zsh", "fish"} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t, ranktest.Shell(t, name), map[string]string{"work/x": ""})
			posix := `echo Welcome; echo "PATH=/evil" >&2; printf 'A=1\0B=2\0'; alias env=false; printf() { echo hah; }
				export PATH="$HOME/bin:$PATH" GREETING="two
lines = x" LANG=xx; sleep 1000 & trap 'echo bye' EXIT; stty sane; cd /; set -u`
			fish := "echo Welcome; set -x PATH $HOME/bin $PATH; set -x GREETING 'two\nlines = x'; set -x LANG xx; function env; end"
			r.write(t, map[string]string{
				".profile": posix, ".bash_profile": posix, ".zprofile": posix, ".config/fish/config.fish": fish, "bin/tool": "#!/bin/sh\n",
			})
			got, err := r.Resolve(t.Context(), r.ada, train("tool"), noEnv)
			is.NoErr(err)
			is.Equal(got.Program, r.ada.Home+"/bin/tool")
			env := values(got.Env)
			is.Equal(env["GREETING"], "two\nlines = x")
			is.Equal(env["LANG"], "xx")
			for _, not := range []string{"A", "B", "SHLVL", "_", "PWD", "TERM"} {
				_, has := env[not]
				is.True(!has) // not
			}
		})
	}
}

// A shell that cannot be used leaves the system's PATH, and the answer says so
// where it may be the reason.
func TestAShellThatFails(t *testing.T) {
	for name, shell := range map[string]string{
		"exits":   "#!/bin/sh\necho no >&2\nexit 3\n",
		"silent":  "#!/bin/sh\n",
		"missing": "",
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			files := map[string]string{"work/x": ""}
			if shell != "" {
				files["shell"] = shell
			}
			r := newRig(t, "/bin/sh", files)
			r.ada.Shell = r.ada.Home + "/shell"
			got, err := r.Resolve(t.Context(), r.ada, train("sh", "-c", "true"), noEnv)
			is.NoErr(err)
			is.Equal(values(got.Env)["SHELL"], r.ada.Home+"/shell")
			is.Equal(values(got.Env)["HOME"], r.ada.Home)
			problem := r.Preflight(t.Context(), r.ada, train("no-such-tool"), noEnv).Problems[0]
			is.Equal(problem.Reason, api.ReasonProgramMissing)
			is.True(strings.HasSuffix(problem.Message, "; the login shell could not be used, so the system's usual PATH is used."))
		})
	}
	is := is.New(t)
	r := newRig(t, "/usr/sbin/nologin", nil)
	problem := r.Preflight(t.Context(), r.ada, api.Program{Command: []string{"no-such-tool"}}, noEnv).Problems[0]
	is.True(strings.HasSuffix(problem.Message, "; ada has no login shell, so the system's usual PATH is used."))
}

// A caller does not wait for a slow shell longer than it wants to; the shell goes
// on, and the next caller has what it said.
func TestASlowShell(t *testing.T) {
	is := is.New(t)
	r := newRig(t, ranktest.Shell(t, "sh"), map[string]string{"work/x": "", "bin/tool": "#!/bin/sh\n"})
	r.write(t, map[string]string{".profile": "echo read >>$HOME/reads; export PATH=$HOME/bin:$PATH; while [ ! -e $HOME/go ]; do sleep 0.02; done\n"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	problem := r.Preflight(ctx, r.ada, train("tool"), noEnv).Problems[0]
	is.Equal(problem.Reason, api.ReasonDeadline)
	is.True(strings.Contains(problem.Message, "the login shell of ada"))
	is.NoErr(os.WriteFile(r.ada.Home+"/go", nil, 0o644))
	is.Equal(len(r.Preflight(t.Context(), r.ada, train("tool"), noEnv).Problems), 0)
	is.Equal(r.lines(t, "reads"), 1)
}

func TestAccount(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "/bin/sh", nil)
	_, err := r.Account("root")
	is.Equal(api.AsError(err).Data.Reason, api.ReasonAccountForbidden)
	config := r.config
	config.OwnUID = 12345
	_, err = prepare.New(config).Account("nobody")
	is.Equal(api.AsError(err).Data.Reason, api.ReasonAccountForbidden)
	is.Equal(prepare.New(config).Preflight(t.Context(), r.ada, train("sh"), noEnv).Problems[0].Reason, api.ReasonAccountForbidden)
}

func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) }

// BenchmarkPreflight is one whose shell and interpreter are known: 100 ms is what it may take.
func BenchmarkPreflight(b *testing.B) {
	r := newRig(b, "/bin/sh", map[string]string{"work/train.py": ""})
	program := train("/usr/bin/python3", "train.py")
	if got := r.Preflight(b.Context(), r.ada, program, noEnv); len(got.Problems) > 0 {
		b.Skip(got.Problems)
	}
	for b.Loop() {
		r.Preflight(b.Context(), r.ada, program, noEnv)
	}
}
