package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// verdict is what became of a fault.
type verdict int

const (
	noFault  verdict = iota // it does not compile
	killed                  // a test found it
	survived                // none did
)

// A fault that makes the tests hang is found: after so long where they wait, and
// by these limits, of processor time and memory, where they do not.
const (
	longest = 4 * time.Minute
	limits  = `ulimit -t 120; ulimit -v 12582912; exec "$@"`
)

// benchmarks run once in the tests of their package, take long there, and find nothing.
const benchmarks = "^TestBenchmarks$"

// judge runs the tests of packages with a fault in place: those of its own package
// first, the others where these find nothing.
func judge(m mutant, packages []string) verdict {
	folder, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return noFault
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "file.go")
	if m.put(file) != nil {
		return noFault
	}
	here, err := filepath.Abs(m.file)
	if err != nil {
		return noFault
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {here: file}})
	if err != nil {
		return noFault
	}
	list := filepath.Join(folder, "overlay.json")
	if os.WriteFile(list, overlay, 0o666) != nil {
		return noFault
	}
	for _, p := range packages {
		if v := tested(p, list); v != survived {
			return v
		}
	}
	return survived
}

func tested(pkg, overlay string) verdict {
	ctx, cancel := context.WithTimeout(context.Background(), longest+time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "sh", "-c", limits, "sh",
		"go", "test", "-skip", benchmarks, "-vet=off", "-failfast", "-count=1", "-timeout", longest.String(), "-overlay", overlay, "./"+pkg)
	command.WaitDelay = time.Second
	output, err := command.CombinedOutput()
	switch {
	case err == nil:
		return survived
	case strings.Contains(string(output), "[build failed]"):
		return noFault
	}
	if _, ended := errors.AsType[*exec.ExitError](err); !ended && ctx.Err() == nil {
		return noFault // go itself could not be run
	}
	return killed
}
