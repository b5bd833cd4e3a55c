package look

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
)

// isPython tells an interpreter by its name: python, python3, python3.12, python3.13t, pypy3.
func isPython(path string) bool {
	version, isOne := strings.CutPrefix(filepath.Base(path), "python")
	if !isOne {
		version, isOne = strings.CutPrefix(filepath.Base(path), "pypy")
	}
	return isOne && strings.Trim(strings.TrimSuffix(version, "t"), "0123456789.") == ""
}

// checkPython refuses a path that does not lead to a Python: a spec may name any
// file, and a look must not execute it. The name of the file behind all links
// counts. Where that is another, the path may be the python of a venv or conda
// environment, or one in the account's PATH, where version managers link python to
// their own program.
func (f *finder) checkPython(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	bin := filepath.Dir(path)
	switch {
	case isPython(real),
		isPython(path) && kindOf(filepath.Dir(bin)) != KindPrefix,
		isPython(path) && slices.Contains(filepath.SplitList(f.variable("PATH")), bin):
		return nil
	case real != path:
		return fmt.Errorf("%s is not a Python interpreter: it leads to %s", path, real)
	}
	return fmt.Errorf("%s is not a Python interpreter", path)
}

// ask has an interpreter say its version and where it looks for packages.
// Isolated (-I) it runs nothing of the directory and ignores PYTHONPATH, which is
// added by [folders]; the user's own packages it leaves out as well, so it is
// asked where they would be. What start-up files print lies outside the marks.
// Then, after another mark, it says of which backends its MLX can make groups,
// which only MLX itself knows: see [readMLX].
const ask = `import os,site,sys
m=sys.argv[1].encode()
v=sys.version.split()[0]+("t" if "t" in getattr(sys,"abiflags","") else "")
p=["1" if sys.prefix==getattr(sys,"base_prefix",sys.prefix) else "0",site.getusersitepackages() or ""]
o=getattr(sys.stdout,"buffer",sys.stdout)
o.write(m+b"\0".join([os.fsencode(x) for x in [v]+p+sys.path])+m)
o.flush()
if p[0]=="1" and os.path.isdir(p[1]): sys.path.insert(0,p[1])
try:
 import mlx.core as mx
 s="has "+" ".join([b for b in ("jaccl","ring") if mx.distributed.is_available(backend=b)])
except ModuleNotFoundError as e: s="none" if e.name in ("mlx","mlx.core") else ""
except Exception: s=""
o.write(b"\x1fmlx\x1f"+s.encode()+b"\x1fmlx\x1f")
o.flush()`

const (
	askMark = "\x1ffulmen\x1f"
	mlxMark = "\x1fmlx\x1f"
	// askTime bounds one interpreter: a cold one on a slow disk takes a second, and
	// MLX, which loads the GPU's libraries, a few more.
	askTime = 8 * time.Second
	maxAsk  = 256 << 10
)

// askPython gives what is known of an interpreter, or asks it.
func askPython(r Request, path string) (python Python, err error) {
	stamp := pythonStamp(path)
	for _, known := range r.Pythons {
		if known.Path == path && known.Stamp == stamp && stamp != "" && known.MLXStamp == mlxStamp(known) {
			return known, nil
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	command := exec.CommandContext(ctx, path, "-I", "-c", ask, askMark)
	command.Env, command.WaitDelay = r.AccountEnv, time.Second
	if readable(r.directory()) == nil {
		command.Dir = r.directory()
	}
	out, complaints := Head{Limit: maxAsk}, Head{Limit: maxComplaints}
	command.Stdout, command.Stderr = &out, &complaints
	ran := command.Run()
	python, err = parsePython(out.String())
	switch {
	case ran != nil && err != nil: // one that has answered was ended by its MLX
		return Python{}, fmt.Errorf("%s does not run: %w%s", path, ran, quoted(complaints.String()))
	case err != nil:
		return Python{}, err
	case ran == nil:
		python.MLX = readMLX(out.String())
	}
	python.Path, python.Stamp, python.MLXStamp = path, stamp, mlxStamp(python)
	return python, nil
}

// readMLX reads what ask printed of MLX; nil where it could not tell.
func readMLX(out string) *api.ProgramMLX {
	answer, found := between(out, mlxMark)
	words := strings.Fields(answer)
	switch {
	case !found || len(words) == 0:
		return nil
	case words[0] == "none" && len(words) == 1:
		return &api.ProgramMLX{Missing: true}
	case words[0] != "has":
		return nil
	}
	mlx := &api.ProgramMLX{Backends: []api.MLXBackend{}}
	for _, word := range words[1:] {
		if b := api.MLXBackend(word); b.Valid() && !slices.Contains(mlx.Backends, b) {
			mlx.Backends = append(mlx.Backends, b)
		}
	}
	return mlx
}

// mlxStamp changes when a package may have come to the interpreter's folders, gone or
// changed: installers write each anew.
func mlxStamp(p Python) string {
	var folders []string
	for _, folder := range append([]string{p.UserFolder}, p.Folders...) {
		if folder != "" {
			folders = append(folders, folder, filepath.Join(folder, "mlx"))
		}
	}
	return stampOf(folders...)
}

// programMLX is the MLX of the program; nil where that is not known, because the
// program's variables or its folder have it find another one than the interpreter
// does by itself.
func programMLX(r Request, p Python) *api.ProgramMLX {
	own := []string{r.directory()}
	for _, folder := range filepath.SplitList(r.variable("PYTHONPATH")) {
		own = append(own, r.at(folder))
	}
	if p.UserFolder != "" && r.variable("PYTHONNOUSERSITE") != "" {
		own = append(own, p.UserFolder)
	}
	for _, folder := range own {
		if cores, _ := filepath.Glob(filepath.Join(folder, "mlx", "core.*")); len(cores) > 0 {
			return nil
		}
	}
	return p.MLX
}

// parsePython reads what ask printed.
func parsePython(out string) (Python, error) {
	text, found := between(out, askMark)
	fields := strings.Split(text, "\x00")
	if !found || len(fields) < 3 {
		return Python{}, fmt.Errorf("it does not answer as Python does")
	}
	absolute := slices.DeleteFunc(slices.Clone(fields[3:]), func(f string) bool { return !filepath.IsAbs(f) })
	python := Python{Version: Line(fields[0], 64), Folders: absolute}
	// A virtual environment does without the account's own packages.
	if fields[1] == "1" && filepath.IsAbs(fields[2]) {
		python.UserFolder = fields[2]
	}
	return python, nil
}

// pythonStamp identifies the state of an interpreter: the file that its path
// leads to and the configuration of a virtual environment around it. A script
// has none: what it runs depends on more than its own file.
func pythonStamp(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	start, err := readStart(real)
	if err != nil || bytes.HasPrefix(start, []byte("#!")) {
		return ""
	}
	return stampOf(real, filepath.Join(filepath.Dir(filepath.Dir(path)), "pyvenv.cfg"))
}

// stampOf changes when one of the files appears, goes or changes.
func stampOf(paths ...string) string {
	hash := sha256.New()
	for _, path := range paths {
		fmt.Fprintf(hash, "%s\x00", path)
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(hash, "%d %d %s", info.ModTime().UnixNano(), info.Size(), info.Mode())
		}
		fmt.Fprint(hash, "\x00")
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

// folders are where the interpreter would look for packages when it runs the
// program: PYTHONPATH comes first, and PYTHONNOUSERSITE leaves the user's out.
func folders(r Request, p Python) []string {
	var out []string
	for _, folder := range filepath.SplitList(r.variable("PYTHONPATH")) {
		if folder != "" {
			out = append(out, r.at(folder))
		}
	}
	if p.UserFolder != "" && r.variable("PYTHONNOUSERSITE") == "" {
		out = append(out, p.UserFolder)
	}
	return append(out, p.Folders...)
}

// quoted is what a program said last, for the end of a sentence.
func quoted(text string) string {
	text = strings.TrimSpace(text)
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	if text = Line(text, 200); text == "" {
		return ""
	}
	return " (" + text + ")"
}
